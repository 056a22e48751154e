#include "trainers/deployed_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <concepts>

#include "core/describe.h"
#include "data/safetensors.h"
#include "trainers/checkpoint.h"

namespace ralimp {
namespace {

constexpr const char* network_kind = "folded network";
// Kinds of steps: the two of chains, and those of layers/folded_step.h.
constexpr const char *product_kind = "product", *features_kind = "features",
                     *blocks_kind = "blocks", *row_products_kind = "row_products",
                     *input_norm_kind = "input_norm";

// The named tensors of a step, in either direction.
template <class Layer, class F>
requires std::same_as<std::remove_const_t<Layer>, ChainLayer>
void for_each_tensor(Layer& step, F&& f) {
    f("weight", step.weight, true);
    f("bias", step.bias, false);
    if (!step.features) return;
    f("projections", step.features->projections, true);
    f("rotation", step.features->rotation, false);
    f("norm_rotation", step.features->norm_rotation, false);
    f("growth", step.features->growth, !step.features->oscillating());
    f("norm_growth", step.features->norm_growth, false);
    f("norm_weights", step.features->norm_weights, false);
}

template <class Product, class F>
requires std::same_as<std::remove_const_t<Product>, BlockProduct>
void for_each_tensor(Product& step, F&& f) {
    for (std::size_t i = 0; i < step.blocks.size(); ++i)
        f(fmt::format("block_{}", i), step.blocks[i], true);
    f("bias", step.bias, false);
}

void for_each_tensor(const RowProducts&, auto&&) {}
void for_each_tensor(const InputNorm&, auto&&) {}

std::string step_name(std::size_t index) { return fmt::format("step_{}", index); }

template <class... Args>
[[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
    fail_with(ExitCode::bad_input, format, std::forward<Args>(args)...);
}

// The values of a step, by their names behind its own.
class StepValues {
public:
    StepValues(const Checkpoint& file, std::string step) : file_(file), step_(std::move(step)) {}
    int64_t whole_number(const char* name) const { return file_.whole_number(full(name)); }
    double number(const char* name) const { return file_.number(full(name)); }
    const std::string& text(const char* name) const { return file_.text(full(name)); }

private:
    std::string full(const char* name) const { return step_ + "." + name; }
    const Checkpoint& file_;
    std::string step_;
};

void read_activation(auto& step, const StepValues& values, const std::string& name) {
    const std::string& activation = values.text("activation");
    const auto names = enum_names(Activation{});
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& one) { return one.second == activation; });
    if (found == names.end()) bad("{} has the activation '{}'", name, activation);
    step.activation = found->first;
    step.scale = values.number("scale");
    step.envelope = values.number("envelope");
}

// All of a step but its tensors.
FoldedStep read_form(const StepValues& values, const std::string& name) {
    const std::string& kind = values.text("kind");
    if (kind == product_kind) {
        ChainLayer step;
        read_activation(step, values, name);
        return step;
    }
    if (kind == features_kind) {
        ChainLayer step;
        step.features.emplace();
        step.features->exponential_rows = values.whole_number("exponential_rows");
        step.features->rows = values.whole_number("rows");
        step.features->shared_rows = values.whole_number("shared_rows");
        step.features->degree = values.whole_number("degree");
        step.features->limit.value = values.number("exponent_limit");
        return step;
    }
    if (kind == blocks_kind) {
        BlockProduct step;
        const int64_t blocks = values.whole_number("blocks");
        if (blocks < 1 || blocks > 100'000) bad("{} has {} blocks", name, blocks);
        step.blocks.resize(static_cast<std::size_t>(blocks));
        step.turn = values.whole_number("turn");
        read_activation(step, values, name);
        return step;
    }
    if (kind == row_products_kind) {
        const int64_t share_rows = values.whole_number("share_rows");
        if (share_rows != 0 && share_rows != 1) bad("{} has share_rows {}", name, share_rows);
        return RowProducts{values.whole_number("kept"), values.whole_number("rows"),
                           values.whole_number("degree"), share_rows == 1};
    }
    if (kind == input_norm_kind)
        return InputNorm{values.whole_number("inputs"), values.number("floor")};
    bad("{} is of no known kind: '{}'", name, kind);
}

FoldedStep read_step(const Checkpoint& file, const std::string& name) {
    FoldedStep step = read_form(StepValues(file, name), name);
    std::visit(
        [&](auto& own) {
            for_each_tensor(own, [&](const std::string& part, Tensor& tensor, bool needed) {
                const auto found = file.tensors.find("network/" + name + "." + part);
                if (found != file.tensors.end())
                    tensor = found->second;
                else if (needed)
                    bad("{} has no {}", name, part);
            });
        },
        step);
    return step;
}

FoldedNetwork network_of(const Checkpoint& file) {
    if (!file.values.count("kind") || file.text("kind") != network_kind)
        bad("is no folded network; ralimp fold writes one");
    std::vector<FoldedStep> steps;
    const int64_t count = file.whole_number("steps");
    if (count < 1 || count > 100'000) bad("it has {} steps", count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        steps.push_back(read_step(file, step_name(i)));
    FoldedNetwork network(std::move(steps));
    // One input shows whether everything fits.
    network.forward(Tensor::zeros({1, network.inputs()}, network.dtype()));
    return network;
}

using Values = std::map<std::string, CheckpointValue>;

void add_activation(Values& values, const auto& step) {
    values["activation"] = std::string(name_of(step.activation));
    values["scale"] = step.scale;
    values["envelope"] = step.envelope;
}

// What read_form() reads.
Values values_of(const ChainLayer& step) {
    Values values{{"kind", step.features ? features_kind : product_kind}};
    if (!step.features) {
        add_activation(values, step);
        return values;
    }
    values["exponential_rows"] = step.features->exponential_rows;
    values["rows"] = step.features->rows;
    values["shared_rows"] = step.features->shared_rows;
    values["degree"] = step.features->degree;
    values["exponent_limit"] = step.features->limit.value;
    return values;
}

Values values_of(const BlockProduct& step) {
    Values values{{"kind", blocks_kind},
                  {"blocks", static_cast<int64_t>(step.blocks.size())},
                  {"turn", step.turn}};
    add_activation(values, step);
    return values;
}

Values values_of(const RowProducts& step) {
    return {{"kind", row_products_kind},
            {"kept", step.kept},
            {"rows", step.rows},
            {"degree", step.degree},
            {"share_rows", int64_t{step.share_rows}}};
}

Values values_of(const InputNorm& step) {
    return {{"kind", input_norm_kind}, {"inputs", step.inputs}, {"floor", step.floor}};
}

Checkpoint content_of(const FoldedNetwork& network, const std::string& config) {
    Checkpoint file;
    file.config = config;
    file.values["kind"] = std::string(network_kind);
    file.values["steps"] = static_cast<int64_t>(network.steps().size());
    for (std::size_t i = 0; i < network.steps().size(); ++i) {
        const std::string name = step_name(i);
        std::visit(
            [&](const auto& step) {
                for_each_tensor(step, [&](const std::string& part, const Tensor& tensor, bool) {
                    if (tensor.defined()) file.add("network", {{name + "." + part, tensor}});
                });
                for (const auto& [part, value] : values_of(step))
                    file.values[name + "." + part] = value;
            },
            network.steps()[i]);
    }
    return file;
}

// The value that a text of the metadata stands for; its name says of which type it must be.
CheckpointValue value_of(const std::string& name, const std::string& text) {
    const auto parsed = [&](auto value) -> CheckpointValue {
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || rest != end || text.empty())
            bad("{} is no number: '{}'", name, text.substr(0, 40));
        return value;
    };
    const auto ends_in = [&](std::initializer_list<const char*> parts) {
        return std::any_of(parts.begin(), parts.end(), [&](const char* part) {
            return name == part || name.ends_with(std::string(".") + part);
        });
    };
    if (ends_in({"steps", "exponential_rows", "rows", "shared_rows", "degree", "blocks", "turn",
                 "kept", "share_rows", "inputs"}))
        return parsed(int64_t{});
    if (ends_in({"exponent_limit", "scale", "envelope", "floor"})) return parsed(double{});
    return text;
}

// The error of f, after the name of its file.
template <class F>
auto with_path(const std::string& path, F&& f) {
    try {
        return f();
    } catch (const Error& error) {
        fail_with(ExitCode::bad_input, "{}: {}", path, error.what());
    }
}

}  // namespace

void write_deployed(const std::string& path, const FoldedNetwork& network,
                    const std::string& config) {
    write_checkpoint(path, content_of(network, config));
}

FoldedNetwork read_deployed(const std::string& path) {
    const Checkpoint file = read_checkpoint(path);
    return with_path(path, [&] { return network_of(file); });
}

void write_deployed_safetensors(const std::string& path, const FoldedNetwork& network,
                                const std::string& config) {
    const Checkpoint content = content_of(network, config);
    Safetensors file{content.tensors, {{"config", config}, {"version", RALIMP_VERSION}}};
    for (const auto& [name, value] : content.values)
        file.metadata[name] = std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
    write_safetensors(path, file);
}

FoldedNetwork read_deployed_safetensors(const std::string& path) {
    Safetensors file = read_safetensors(path);
    return with_path(path, [&] {
        Checkpoint content;
        content.tensors = std::move(file.tensors);
        for (const auto& [name, text] : file.metadata) content.values[name] = value_of(name, text);
        return network_of(content);
    });
}

}  // namespace ralimp
