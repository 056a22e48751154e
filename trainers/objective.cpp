#include "trainers/objective.h"

#include <algorithm>

#include "core/kernels.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

struct Part {
    NamedValues loss;
    Tensor gradient;
};

NamedValues values_of(const Loss& loss) {
    NamedValues values{{"loss", loss.total.item()}};
    for (const auto& [name, value] : loss.terms) values.emplace_back(name, value.item());
    return values;
}

NamedValues sum(const std::vector<Part>& parts) {
    NamedValues total = parts[0].loss;
    for (std::size_t part = 1; part < parts.size(); ++part) {
        for (const auto& [name, value] : parts[part].loss) {
            const auto found =
                std::find_if(total.begin(), total.end(),
                             [&, &wanted = name](const auto& t) { return t.first == wanted; });
            check(found != total.end(), "loss: the first part lacks the term '{}'", name);
            found->second += value;
        }
    }
    return total;
}

template <class T>
void add_gradients(const std::vector<Part>& parts, const Tensor& out) {
    constexpr int64_t grain = 2048;
    T* to = out.data<T>();
    parallel_for(out.elements(), grain, [&](int64_t begin, int64_t end) {
        double totals[grain] = {};
        for (const Part& part : parts) {
            const T* from = part.gradient.data<T>() + begin;
            for (int64_t i = 0; i < end - begin; ++i) totals[i] += from[i];
        }
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(totals[i - begin]);
    });
}

}  // namespace

NamedValues loss_values(const LossParts& of) {
    std::vector<Part> parts(static_cast<std::size_t>(of.count));
    parallel_for(of.count, 1, [&](int64_t begin, int64_t) {
        NoGrad no_grad;  // recording is a matter of each thread
        parts[begin].loss = values_of(of.loss(begin));
    });
    return sum(parts);
}

ObjectiveValues evaluate_objective(const LossParts& of, const Parameters& parameters) {
    std::vector<Part> parts(static_cast<std::size_t>(of.count));
    parallel_for(of.count, 1, [&](int64_t begin, int64_t) {
        const Loss loss = of.loss(begin);
        parts[begin] = {values_of(loss), parameters.gradient(loss.total)};
    });
    if (parts.size() == 1) return {parts[0].loss, parts[0].gradient};
    const Tensor gradient = Tensor::empty({parameters.count()}, parameters.values().dtype());
    if (gradient.dtype() == DType::float64)
        add_gradients<double>(parts, gradient);
    else
        add_gradients<float>(parts, gradient);
    return {sum(parts), gradient};
}

}  // namespace ralimp
