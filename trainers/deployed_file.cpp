#include "trainers/deployed_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "core/describe.h"
#include "data/safetensors.h"
#include "trainers/checkpoint.h"

namespace ralimp {
namespace {

constexpr const char* kind = "folded network";

// The named tensors of a step, in either direction.
template <class Layer, class F>
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

std::string step_name(std::size_t index) { return fmt::format("step_{}", index); }

template <class... Args>
[[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
    fail_with(ExitCode::bad_input, format, std::forward<Args>(args)...);
}

ChainLayer read_step(const Checkpoint& file, const std::string& name) {
    ChainLayer step;
    if (file.values.count(name + ".degree")) {
        step.features.emplace();
        step.features->exponential_rows = file.whole_number(name + ".exponential_rows");
        step.features->rows = file.whole_number(name + ".rows");
        step.features->shared_rows = file.whole_number(name + ".shared_rows");
        step.features->degree = file.whole_number(name + ".degree");
        step.features->limit.value = file.number(name + ".exponent_limit");
    } else {
        const std::string& activation = file.text(name + ".activation");
        const auto names = enum_names(Activation{});
        const auto found = std::find_if(names.begin(), names.end(),
                                        [&](const auto& one) { return one.second == activation; });
        if (found == names.end()) bad("{} has the activation '{}'", name, activation);
        step.activation = found->first;
        step.scale = file.number(name + ".scale");
        step.envelope = file.number(name + ".envelope");
    }
    for_each_tensor(step, [&](const char* part, Tensor& tensor, bool needed) {
        const auto found = file.tensors.find("network/" + name + "." + part);
        if (found != file.tensors.end())
            tensor = found->second;
        else if (needed)
            bad("{} has no {}", name, part);
    });
    return step;
}

FoldedNetwork network_of(const Checkpoint& file) {
    if (!file.values.count("kind") || file.text("kind") != kind)
        bad("is no folded network; ralimp fold writes one");
    std::vector<ChainLayer> steps;
    const int64_t count = file.whole_number("steps");
    if (count < 1 || count > 100'000) bad("it has {} steps", count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        steps.push_back(read_step(file, step_name(i)));
    FoldedNetwork network(std::move(steps));
    // One input shows whether everything fits.
    network.forward(Tensor::zeros({1, network.inputs()}, network.steps()[0].weight.dtype()));
    return network;
}

Checkpoint content_of(const FoldedNetwork& network, const std::string& config) {
    Checkpoint file;
    file.config = config;
    file.values["kind"] = std::string(kind);
    file.values["steps"] = static_cast<int64_t>(network.steps().size());
    for (std::size_t i = 0; i < network.steps().size(); ++i) {
        const ChainLayer& step = network.steps()[i];
        const std::string name = step_name(i);
        for_each_tensor(step, [&](const char* part, const Tensor& tensor, bool) {
            if (tensor.defined()) file.add("network", {{name + "." + part, tensor}});
        });
        const auto value = [&](const char* part) -> CheckpointValue& {
            return file.values[name + "." + part];
        };
        if (step.features) {
            value("exponential_rows") = step.features->exponential_rows;
            value("rows") = step.features->rows;
            value("shared_rows") = step.features->shared_rows;
            value("degree") = step.features->degree;
            value("exponent_limit") = step.features->limit.value;
        } else {
            value("activation") = std::string(name_of(step.activation));
            value("scale") = step.scale;
            value("envelope") = step.envelope;
        }
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
    if (ends_in({"steps", "exponential_rows", "rows", "shared_rows", "degree"}))
        return parsed(int64_t{});
    if (ends_in({"exponent_limit", "scale", "envelope"})) return parsed(double{});
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
