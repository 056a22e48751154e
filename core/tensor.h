// Tensor: a strided view of shared memory on one device, and an opaque pointer to the graph node
// that made it. No arithmetic here: the public operations are in autograd/operations.h.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device.h"
#include "core/dtype.h"
#include "core/shape.h"

namespace ralimp {

struct Node;  // a recorded operation; see autograd/graph.h

// Memory of one allocation, freed when the last view of it is gone.
class Storage {
public:
    Storage(std::size_t bytes, Device device);
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    std::byte* bytes() const { return bytes_; }
    std::size_t size() const { return size_; }
    Device device() const { return device_; }

private:
    std::byte* bytes_;
    std::size_t size_;
    Device device_;
};

class Tensor {
public:
    Tensor() = default;  // undefined: no memory, no shape

    // Uninitialised memory, row-major.
    static Tensor empty(const Shape& shape, DType dtype = DType::float32, Device device = {});
    static Tensor full(const Shape& shape, double value, DType dtype = DType::float32,
                       Device device = {});
    static Tensor zeros(const Shape& shape, DType dtype = DType::float32, Device device = {}) {
        return full(shape, 0, dtype, device);
    }
    static Tensor ones(const Shape& shape, DType dtype = DType::float32, Device device = {}) {
        return full(shape, 1, dtype, device);
    }
    // Shape [] with one element.
    static Tensor scalar(double value, DType dtype = DType::float32, Device device = {}) {
        return full({}, value, dtype, device);
    }
    // 0, 1, …, count-1 as int64 or any other type.
    static Tensor arange(int64_t count, DType dtype = DType::int64);
    // Copies host values; their number must be the shape's.
    template <class T>
    static Tensor from(std::span<const T> values, const Shape& shape);
    template <class T>
    static Tensor from(const std::vector<T>& values, const Shape& shape) {
        return from(std::span<const T>(values), shape);
    }

    bool defined() const { return dtype_known_; }
    // False for the placeholder that a graph node keeps of an input whose values it does not need.
    bool has_values() const { return storage_ != nullptr; }
    const Shape& shape() const { return shape_; }
    const Shape& strides() const { return strides_; }  // in elements; 0 along an expanded axis
    int dims() const { return shape_.dims(); }
    // Size of one axis; negative axes count from the end.
    int64_t size(int axis) const { return shape_[normalize_axis("size", axis, dims())]; }
    int64_t elements() const { return shape_.elements(); }
    DType dtype() const { return dtype_; }
    Device device() const { return device_; }
    int64_t offset() const { return offset_; }
    const std::shared_ptr<Storage>& storage() const { return storage_; }
    bool is_contiguous() const;

    // First element. The typed form throws when T is not the dtype's type. On a CUDA device the
    // pointer is a device address.
    void* data() const;
    template <class T>
    T* data() const {
        check(dtype_of<T>() == dtype_, "data: the tensor holds {}, not {}", name_of(dtype_),
              name_of(dtype_of<T>()));
        return static_cast<T*>(data());
    }
    // The value of a tensor with one element, of any device.
    double item() const;
    // All values in row-major order on the host, from any device. The dtype must be T's.
    template <class T>
    std::vector<T> to_vector() const;
    // All values as doubles, whatever the dtype.
    std::vector<double> to_doubles() const;

    // A view of the same memory with another shape; strides in elements, offset from this
    // tensor's first element. The result carries no graph node. Reaching outside the storage
    // throws.
    Tensor strided_view(const Shape& shape, const Shape& strides, int64_t offset = 0) const;
    // Itself when it is on the device already, else a copy there, row-major; the only way from one
    // device to another beside copy_from. Without graph.
    Tensor to(Device device) const;
    // Itself when row-major already, else a copy. Without graph.
    Tensor contiguous() const;
    Tensor clone() const;
    // Writes the values of another tensor (broadcast and converted), which may be on another
    // device, into this one's memory.
    void copy_from(const Tensor& source) const;
    void fill(double value) const;

    // The graph. A tensor requires a gradient exactly when it has a node.
    bool requires_grad() const { return node_ != nullptr; }
    const std::shared_ptr<Node>& node() const { return node_; }
    Tensor with_node(std::shared_ptr<Node> node) const;
    // The same values outside the graph.
    Tensor detach() const { return with_node(nullptr); }
    // Shape, dtype, device and node, but no values: see has_values().
    Tensor without_values() const;

private:
    std::shared_ptr<Storage> storage_;
    std::shared_ptr<Node> node_;
    int64_t offset_ = 0;
    Shape shape_;
    Shape strides_;
    DType dtype_ = DType::float32;
    Device device_;
    bool dtype_known_ = false;
};

}  // namespace ralimp
