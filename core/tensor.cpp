#include "core/tensor.h"

#include <algorithm>
#include <cstring>

#include "core/allocator.h"
#include "core/backend.h"
#include "core/kernels.h"

namespace ralimp {

namespace {

// Between devices; both contiguous, of one type and shape.
void copy_bytes(const Tensor& out, const Tensor& in) {
    const std::size_t bytes = static_cast<std::size_t>(in.elements()) * bytes_of(in.dtype());
    if (bytes == 0) return;
    const Device to = out.device(), from = in.device();
    if (from.type == DeviceType::cpu)
        backend(to).copy_from_host(out.data(), to, in.data(), bytes);
    else if (to.type == DeviceType::cpu)
        backend(from).copy_to_host(out.data(), in.data(), from, bytes);
    else
        backend(to).copy_between(out.data(), to, in.data(), from, bytes);
}

}  // namespace

Storage::Storage(std::size_t bytes, Device device)
    : bytes_(static_cast<std::byte*>(allocate(bytes, device))), size_(bytes), device_(device) {}

Storage::~Storage() { deallocate(bytes_, size_, device_); }

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
    for (int64_t size : shape) check(size >= 0, "empty: shape {} has a negative size", shape);
    Tensor tensor;
    tensor.storage_ = std::make_shared<Storage>(
        static_cast<std::size_t>(shape.elements()) * bytes_of(dtype), device);
    tensor.shape_ = shape;
    tensor.strides_ = row_major_strides(shape);
    tensor.dtype_ = dtype;
    tensor.device_ = device;
    tensor.dtype_known_ = true;
    return tensor;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype, Device device) {
    Tensor tensor = empty(shape, dtype, device);
    tensor.fill(value);
    return tensor;
}

Tensor Tensor::arange(int64_t count, DType dtype) {
    Tensor tensor = empty({count}, dtype);
    dispatch("arange", dtype, [&]<class T>(T) {
        T* out = tensor.data<T>();
        for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(i);
    });
    return tensor;
}

template <class T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
    check(static_cast<int64_t>(values.size()) == shape.elements(),
          "from: {} values do not fill the shape {}", values.size(), shape);
    Tensor tensor = empty(shape, dtype_of<T>());
    if (!values.empty()) std::memcpy(tensor.data(), values.data(), values.size_bytes());
    return tensor;
}

bool Tensor::is_contiguous() const {
    if (elements() == 0) return true;
    int64_t expected = 1;
    for (int axis = dims() - 1; axis >= 0; --axis) {
        if (shape_[axis] == 1) continue;
        if (strides_[axis] != expected) return false;
        expected *= shape_[axis];
    }
    return true;
}

void* Tensor::data() const {
    check(has_values(), "data: the tensor {}",
          defined() ? "is a placeholder of the graph and keeps no values" : "is undefined");
    if (!storage_->bytes()) return nullptr;
    return storage_->bytes() + offset_ * static_cast<int64_t>(bytes_of(dtype_));
}

double Tensor::item() const {
    check(elements() == 1, "item: the tensor {} has not one element", shape_);
    return to_doubles()[0];
}

template <class T>
std::vector<T> Tensor::to_vector() const {
    const Tensor values = to(Device{}).contiguous();
    const T* first = values.data<T>();
    return std::vector<T>(first, first + values.elements());
}

std::vector<double> Tensor::to_doubles() const {
    if (dtype_ == DType::float64) return to_vector<double>();
    const Tensor converted = empty(shape_, DType::float64);
    converted.copy_from(*this);
    return converted.to_vector<double>();
}

Tensor Tensor::strided_view(const Shape& shape, const Shape& strides, int64_t offset) const {
    check(shape.dims() == strides.dims(), "strided_view: shape {} and strides {} differ in length",
          shape, strides);
    int64_t first = offset_ + offset, last = first;
    for (int axis = 0; axis < shape.dims(); ++axis) {
        check(shape[axis] >= 0, "strided_view: shape {} has a negative size", shape);
        (strides[axis] < 0 ? first : last) += (shape[axis] - 1) * strides[axis];
    }
    if (shape.elements() > 0 && has_values()) {
        const int64_t capacity = static_cast<int64_t>(storage_->size() / bytes_of(dtype_));
        check(first >= 0 && last < capacity,
              "strided_view: shape {} with strides {} reaches outside its memory of {} elements",
              shape, strides, capacity);
    }
    Tensor view = detach();
    view.shape_ = shape;
    view.strides_ = strides;
    view.offset_ = shape.elements() > 0 ? offset_ + offset : 0;
    return view;
}

Tensor Tensor::to(Device device) const {
    if (device == device_) return detach();
    const Tensor result = empty(shape_, dtype_, device);
    copy_bytes(result, contiguous());
    return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? detach() : clone(); }

Tensor Tensor::clone() const {
    Tensor copy = empty(shape_, dtype_, device_);
    copy.copy_from(*this);
    return copy;
}

void Tensor::copy_from(const Tensor& source) const {
    check(broadcast_shapes("copy_from", shape_, source.shape()) == shape_,
          "copy_from: {} does not broadcast to {}", source.shape(), shape_);
    if (elements() == 0) return;
    if (device_ != source.device_) {
        if (dtype_ == source.dtype_ && shape_ == source.shape_ && is_contiguous())
            return copy_bytes(*this, source.contiguous());
        return copy_from(source.to(device_));
    }
    Shape strides = Shape::filled(dims(), 0);
    for (int back = 1; back <= source.dims(); ++back)
        if (source.shape_[source.dims() - back] != 1)
            strides[dims() - back] = source.strides_[source.dims() - back];
    kernels(device_).copy(*this, source.strided_view(shape_, strides));
}

void Tensor::fill(double value) const {
    if (elements() > 0) kernels(device_).fill(*this, value);
}

Tensor Tensor::with_node(std::shared_ptr<Node> node) const {
    Tensor result = *this;
    result.node_ = std::move(node);
    return result;
}

Tensor Tensor::without_values() const {
    Tensor result = *this;
    result.storage_ = nullptr;
    return result;
}

template Tensor Tensor::from(std::span<const float>, const Shape&);
template Tensor Tensor::from(std::span<const double>, const Shape&);
template Tensor Tensor::from(std::span<const int64_t>, const Shape&);
template Tensor Tensor::from(std::span<const int32_t>, const Shape&);
template Tensor Tensor::from(std::span<const uint8_t>, const Shape&);
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<int32_t> Tensor::to_vector() const;
template std::vector<uint8_t> Tensor::to_vector() const;

}  // namespace ralimp
