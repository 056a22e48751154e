#include "optim/parameter_layout.h"

#include <cmath>

namespace ralimp {

ParameterLayout::ParameterLayout(std::vector<ParameterGroup> groups, DType dtype, Device device)
    : groups_(std::move(groups)), dtype_(dtype), device_(device) {
    check(dtype == DType::float32 || dtype == DType::float64,
          "parameter layout: parameters of type {} cannot be trained; use float32 or float64",
          name_of(dtype));
    std::string faults;
    for (const ParameterGroup& group : groups_) {
        if (group.count < 0 || group.offset != count_)
            faults += fmt::format("; '{}' covers [{}, {}) but the group before it ends at {}",
                                  group.name, group.offset, group.offset + group.count, count_);
        if (!std::isfinite(group.learning_rate_scale) || group.learning_rate_scale < 0)
            faults += fmt::format("; '{}' has the learning rate scale {}", group.name,
                                  group.learning_rate_scale);
        if (!group.shape.empty() && group.shape.elements() != group.count)
            faults += fmt::format("; '{}' has {} elements but the shape {}", group.name,
                                  group.count, group.shape);
        count_ = group.offset + group.count;
    }
    check(faults.empty(),
          "parameter layout: groups must follow each other without gaps, fit their shapes and have "
          "scales >= 0{}",
          faults);
    ranges_ = ranges_but([](const ParameterGroup&) { return false; });
}

std::vector<ParameterGroup> ParameterLayout::ranges_but(
    const std::function<bool(const ParameterGroup&)>& alone) const {
    std::vector<ParameterGroup> ranges;
    bool may_grow = false;
    for (const ParameterGroup& group : groups_) {
        const bool stays = alone(group);
        if (may_grow && !stays && ranges.back().decay == group.decay &&
            ranges.back().learning_rate_scale == group.learning_rate_scale) {
            ranges.back().count += group.count;
            ranges.back().shape = {};
        } else {
            ranges.push_back(group);
        }
        may_grow = !stays;
    }
    return ranges;
}

void ParameterLayout::check_buffer(const char* operation, const char* what,
                                   const Tensor& buffer) const {
    check(buffer.defined() && buffer.has_values() && buffer.shape() == Shape{count_} &&
              buffer.is_contiguous() && buffer.dtype() == dtype_ && buffer.device() == device_,
          "{}: the {} must be a contiguous {} tensor {} on {}, not {}", operation, what,
          name_of(dtype_), to_string(Shape{count_}), to_string(device_),
          buffer.defined()
              ? fmt::format("a {}{} tensor {} on {}", buffer.is_contiguous() ? "" : "strided ",
                            name_of(buffer.dtype()), to_string(buffer.shape()),
                            to_string(buffer.device()))
              : std::string("undefined"));
}

Tensor range_of(const Tensor& buffer, const ParameterGroup& range) {
    return buffer.strided_view({range.count}, {1}, range.offset);
}

}  // namespace ralimp
