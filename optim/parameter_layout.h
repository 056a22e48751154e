// How the parameters of a model stand in their flat buffer: named ranges, and what an optimizer may
// treat differently in each. Not the parameters themselves.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

struct ParameterGroup {
    std::string name;
    int64_t offset = 0;
    int64_t count = 0;
    bool decay = true;               // weight decay applies
    double learning_rate_scale = 1;  // multiplies the learning rate; 0 freezes the range
    Shape shape = {};                // of the parameter, row-major; no axes: a number, or not known
};

class ParameterLayout {
public:
    // The groups must cover [0, n) in order, without gaps, and have as many elements as their
    // shapes, where these are given; otherwise throws Error with all faults.
    ParameterLayout(std::vector<ParameterGroup> groups, DType dtype, Device device = {});
    // One group over all parameters.
    static ParameterLayout single(int64_t count, DType dtype, Device device = {}) {
        return ParameterLayout({{.name = "all", .count = count}}, dtype, device);
    }

    const std::vector<ParameterGroup>& groups() const { return groups_; }
    // Neighbouring groups that are treated alike, merged: what an elementwise update walks over.
    // Merged ones have no shape.
    const std::vector<ParameterGroup>& ranges() const { return ranges_; }
    // The same, but groups of which `alone` is true stay as they are.
    std::vector<ParameterGroup> ranges_but(
        const std::function<bool(const ParameterGroup&)>& alone) const;
    int64_t count() const { return count_; }
    DType dtype() const { return dtype_; }
    Device device() const { return device_; }

    // Zeros [n] of the parameters' type on their device.
    Tensor zeros() const { return Tensor::zeros({count_}, dtype_, device_); }
    // Throws Error unless the buffer is contiguous [n] of this type on this device.
    void check_buffer(const char* operation, const char* what, const Tensor& buffer) const;

private:
    std::vector<ParameterGroup> groups_;
    std::vector<ParameterGroup> ranges_;
    int64_t count_ = 0;
    DType dtype_;
    Device device_;
};

// The view of one range of a flat buffer.
Tensor range_of(const Tensor& buffer, const ParameterGroup& range);

}  // namespace ralimp
