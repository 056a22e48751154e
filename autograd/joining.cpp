// Joining tensors and cutting them apart.
#include "autograd/apply.h"
#include "autograd/operations.h"

namespace ralimp {
namespace {

void check_parts(const char* operation, const Tensors& parts, int ignored_axis) {
    for (const Tensor& part : parts) {
        check_same_type(operation, parts[0], part);
        check(part.dims() == parts[0].dims(), "{}: {} and {} differ in their number of axes",
              operation, parts[0].shape(), part.shape());
        for (int axis = 0; axis < part.dims(); ++axis)
            check(axis == ignored_axis || part.shape()[axis] == parts[0].shape()[axis],
                  "{}: {} and {} differ at axis {}", operation, parts[0].shape(), part.shape(),
                  axis);
    }
}

}  // namespace

Tensor concatenate(const Tensors& parts, int64_t axis) {
    check(!parts.empty(), "concatenate: of no tensors");
    const int at = normalize_axis("concatenate", axis, parts[0].dims());
    check_parts("concatenate", parts, at);
    Shape shape = parts[0].shape();
    shape[at] = 0;
    for (const Tensor& part : parts) shape[at] += part.shape()[at];
    Tensor out = Tensor::empty(shape, parts[0].dtype(), parts[0].device());
    int64_t start = 0;
    for (const Tensor& part : parts) {
        if (part.elements() > 0)
            out.strided_view(part.shape(), out.strides(), start * out.strides()[at])
                .copy_from(part);
        start += part.shape()[at];
    }
    return record("concatenate", out, parts, Keep::nothing, at, [](Context c) {
        const int axis_of_parts = arguments_of<int>(c);
        Tensors gradients(c.inputs.size());
        int64_t first = 0;
        for (std::size_t k = 0; k < gradients.size(); ++k) {
            const int64_t end = first + c.inputs[k].shape()[axis_of_parts];
            if (c.needs(k)) gradients[k] = slice(c.gradient, axis_of_parts, first, end);
            first = end;
        }
        return gradients;
    });
}

Tensor stack(const Tensors& parts, int64_t axis) {
    check(!parts.empty(), "stack: of no tensors");
    const int at = normalize_axis("stack", axis, parts[0].dims() + 1);
    check_parts("stack", parts, -1);
    Shape shape = parts[0].shape();
    shape.insert(at, static_cast<int64_t>(parts.size()));
    Tensor out = Tensor::empty(shape, parts[0].dtype(), parts[0].device());
    for (std::size_t k = 0; k < parts.size(); ++k)
        select(out, at, static_cast<int64_t>(k)).copy_from(parts[k]);
    return record("stack", out, parts, Keep::nothing, at, [](Context c) {
        Tensors gradients(c.inputs.size());
        for (std::size_t k = 0; k < gradients.size(); ++k)
            if (c.needs(k))
                gradients[k] = select(c.gradient, arguments_of<int>(c), static_cast<int64_t>(k));
        return gradients;
    });
}

Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis) {
    const int at = normalize_axis("split", axis, x.dims());
    int64_t total = 0;
    for (int64_t size : sizes) {
        check(size >= 0, "split: the size {} is negative", size);
        total += size;
    }
    check(total == x.shape()[at], "split: the sizes add up to {}, axis {} of {} has {}", total,
          axis, x.shape(), x.shape()[at]);
    Tensors parts;
    int64_t start = 0;
    for (int64_t size : sizes) {
        parts.push_back(slice(x, at, start, start + size));
        start += size;
    }
    return parts;
}

}  // namespace ralimp
