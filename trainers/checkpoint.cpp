#include "trainers/checkpoint.h"

#include <fmt/format.h>

#include <cstring>

#include "core/error.h"

namespace ralimp {
namespace {

// The pairs that agree, and one line for each name that does not.
struct Comparison {
    std::vector<std::pair<Tensor, Tensor>> target_and_source;
    std::vector<std::string> differences;
};

Comparison compare(const NamedTensors& tensors, const Checkpoint& checkpoint,
                   const std::string& group) {
    Comparison result;
    std::map<std::string, Tensor> stored;
    for (const auto& [name, tensor] : checkpoint.group(group)) stored.emplace(name, tensor);
    for (const auto& [name, tensor] : tensors) {
        const auto found = stored.find(name);
        if (found == stored.end()) {
            result.differences.push_back(fmt::format("{} is missing in the checkpoint", name));
            continue;
        }
        const Tensor source = found->second;
        stored.erase(found);
        if (source.shape() != tensor.shape())
            result.differences.push_back(fmt::format("{} has shape {}, in the checkpoint {}", name,
                                                     to_string(tensor.shape()),
                                                     to_string(source.shape())));
        else if (source.dtype() != tensor.dtype())
            result.differences.push_back(fmt::format("{} is {}, in the checkpoint {}", name,
                                                     name_of(tensor.dtype()),
                                                     name_of(source.dtype())));
        else
            result.target_and_source.emplace_back(tensor, source);
    }
    for (const auto& [name, tensor] : stored)
        result.differences.push_back(fmt::format("{} stands only in the checkpoint", name));
    return result;
}

void copy_values(const Comparison& comparison) {
    for (const auto& [target, source] : comparison.target_and_source) {
        if (target.elements() == 0) continue;
        if (target.is_contiguous() && target.device() == source.device())
            std::memcpy(target.data(), source.data(),
                        static_cast<std::size_t>(target.elements()) * bytes_of(target.dtype()));
        else
            target.copy_from(source);
    }
}

// In one line, however many there are.
std::string list_of(const std::vector<std::string>& differences) {
    constexpr std::size_t most = 3;
    const std::size_t shown = differences.size() > most + 1 ? most : differences.size();
    std::string list = fmt::format(
        "{}", fmt::join(differences.begin(), differences.begin() + static_cast<long>(shown), "; "));
    if (shown < differences.size())
        list += fmt::format("; and {} more differences", differences.size() - shown);
    return list;
}

template <class T>
const T& value_of(const Checkpoint& checkpoint, const std::string& name, const char* type) {
    const auto found = checkpoint.values.find(name);
    if (found == checkpoint.values.end())
        fail_with(ExitCode::bad_input, "checkpoint: trainer/{} is missing", name);
    const T* value = std::get_if<T>(&found->second);
    if (!value) fail_with(ExitCode::bad_input, "checkpoint: trainer/{} is not {}", name, type);
    return *value;
}

}  // namespace

void Checkpoint::add(const std::string& group, const NamedTensors& named) {
    for (const auto& [name, tensor] : named)
        check(tensors.emplace(group + "/" + name, tensor).second,
              "checkpoint: {}/{} is added twice", group, name);
}

NamedTensors Checkpoint::group(const std::string& group) const {
    NamedTensors named;
    const std::string prefix = group + "/";
    for (auto it = tensors.lower_bound(prefix); it != tensors.end(); ++it) {
        if (!it->first.starts_with(prefix)) break;
        named.emplace_back(it->first.substr(prefix.size()), it->second);
    }
    return named;
}

int64_t Checkpoint::whole_number(const std::string& name) const {
    return value_of<int64_t>(*this, name, "a whole number");
}
double Checkpoint::number(const std::string& name) const {
    return value_of<double>(*this, name, "a number");
}
const std::string& Checkpoint::text(const std::string& name) const {
    return value_of<std::string>(*this, name, "a text");
}

void load_into(const NamedTensors& tensors, const Checkpoint& checkpoint,
               const std::string& group) {
    const Comparison comparison = compare(tensors, checkpoint, group);
    if (!comparison.differences.empty())
        fail_with(ExitCode::bad_input, "{}: the checkpoint does not fit: {}", group,
                  list_of(comparison.differences));
    copy_values(comparison);
}

std::vector<std::string> load_matching(const NamedTensors& tensors, const Checkpoint& checkpoint,
                                       const std::string& group) {
    Comparison comparison = compare(tensors, checkpoint, group);
    if (comparison.target_and_source.empty())
        fail_with(ExitCode::bad_input, "{}: nothing of the checkpoint fits: {}", group,
                  list_of(comparison.differences));
    copy_values(comparison);
    return std::move(comparison.differences);
}

}  // namespace ralimp
