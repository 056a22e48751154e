// Which channels a jet needs, and the rules of differentiation between them.
#include <algorithm>
#include <map>
#include <set>

#include "autograd/jet.h"

namespace ralimp {
namespace {

using AxisList = std::vector<int>;

AxisList subset(const AxisList& axes, unsigned mask) {
    AxisList result;
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (mask >> i & 1) result.push_back(axes[i]);
    return result;
}

// All ways to split the positions 0 … count-1 into blocks, each block a bit mask.
std::vector<std::vector<unsigned>> set_partitions(int count) {
    std::vector<std::vector<unsigned>> partitions{{}};
    for (int position = 0; position < count; ++position) {
        std::vector<std::vector<unsigned>> extended;
        for (const auto& partition : partitions) {
            for (std::size_t block = 0; block <= partition.size(); ++block) {
                auto next = partition;
                if (block == partition.size()) next.push_back(0);
                next[block] |= 1u << position;
                extended.push_back(std::move(next));
            }
        }
        partitions = std::move(extended);
    }
    return partitions;
}

}  // namespace

std::shared_ptr<const JetPlan> JetPlan::make(std::vector<AxisList> derivatives,
                                             AxisList laplacian_axes) {
    std::sort(laplacian_axes.begin(), laplacian_axes.end());
    std::set<AxisList> needed;
    for (AxisList& axes : derivatives) {
        check(axes.size() <= 3, "jet: derivatives go up to the third order, {} asked for",
              axes.size());
        std::sort(axes.begin(), axes.end());
        for (unsigned mask = 1; mask < 1u << axes.size(); ++mask) needed.insert(subset(axes, mask));
    }
    for (int axis : laplacian_axes) needed.insert(AxisList{axis});
    for (const AxisList& axes : needed)
        check(axes.front() >= 0, "jet: axis {} is negative", axes.front());

    std::shared_ptr<JetPlan> plan(new JetPlan);
    plan->channels_.push_back({});
    for (std::size_t order = 1; order <= 3; ++order)
        for (const AxisList& axes : needed)
            if (axes.size() == order) plan->channels_.push_back(axes);
    if (!laplacian_axes.empty()) {
        plan->laplacian_axes_ = laplacian_axes;
        plan->laplacian_ = plan->channels();
        plan->channels_.push_back({});
    }
    check(plan->channels() <= ActivationProgram::max_channels,
          "jet: {} derivatives are needed at once, at most {} are possible", plan->channels() - 1,
          ActivationProgram::max_channels - 1);
    plan->build_rules();
    return plan;
}

const std::shared_ptr<const JetPlan>& JetPlan::value_only() {
    static const std::shared_ptr<const JetPlan> plan = make({});
    return plan;
}

int JetPlan::channel(AxisList axes) const {
    if (axes.empty()) return 0;
    std::sort(axes.begin(), axes.end());
    const auto found = std::find(channels_.begin() + 1, channels_.end(), axes);
    if (found == channels_.end()) {
        std::string text;
        for (int axis : axes) text += (text.empty() ? "" : ", ") + std::to_string(axis);
        fail("jet: the derivative along axes ({}) was not asked for when the plan was made", text);
    }
    return static_cast<int>(found - channels_.begin());
}

int JetPlan::laplacian_channel() const {
    check(laplacian_ >= 0, "jet: the Laplacian was not asked for when the plan was made");
    return laplacian_;
}

void JetPlan::build_rules() {
    ActivationProgram& program = composition_;
    program.channels = static_cast<uint8_t>(channels());
    const auto add_term = [&](int channel, const std::vector<int>& factors, int coefficient) {
        check(program.term_count < ActivationProgram::max_terms,
              "jet: the derivatives asked for need more than {} terms of the chain rule",
              ActivationProgram::max_terms);
        auto& term = program.terms[program.term_count++];
        term.channel = static_cast<uint8_t>(channel);
        term.order = static_cast<uint8_t>(factors.size());
        std::copy(factors.begin(), factors.end(), term.factors);
        term.coefficient = static_cast<float>(coefficient);
        program.max_order = std::max(program.max_order, term.order);
    };
    products_.push_back({0, 0, 0, 1});
    for (int c = 1; c < channels(); ++c) {
        if (c == laplacian_) {
            add_term(c, {c}, 1);
            products_.push_back({c, c, 0, 1});
            products_.push_back({c, 0, c, 1});
            for (int axis : laplacian_axes_) {
                const int first = channel({axis});
                add_term(c, {first, first}, 1);
                products_.push_back({c, first, first, 2});
            }
            continue;
        }
        const AxisList& axes = channels_[c];
        // Equal terms are merged; the fewest blocks (lowest order of f) come first.
        std::map<std::vector<int>, int> terms;
        for (const auto& partition : set_partitions(static_cast<int>(axes.size()))) {
            std::vector<int> factors;
            for (unsigned block : partition) factors.push_back(channel(subset(axes, block)));
            std::sort(factors.begin(), factors.end());
            ++terms[factors];
        }
        for (std::size_t order = 1; order <= axes.size(); ++order)
            for (const auto& [factors, count] : terms)
                if (factors.size() == order) add_term(c, factors, count);
        std::map<std::pair<int, int>, int> products;
        const unsigned all = (1u << axes.size()) - 1;
        for (unsigned mask = 0; mask <= all; ++mask)
            ++products[{channel(subset(axes, mask)), channel(subset(axes, all & ~mask))}];
        for (const auto& [pair, count] : products)
            products_.push_back({c, pair.first, pair.second, double(count)});
    }
}

ActivationProgram JetPlan::composition(Activation activation, double scale, double envelope) const {
    ActivationProgram program = composition_;
    program.activation = activation;
    program.scale = scale;
    program.parameter =
        activation::parameter(activation::Activations{}, activation, scale, envelope);
    return program;
}

}  // namespace ralimp
