// A shape (or the strides beside it): up to eight whole numbers held inline, so that making a view
// never allocates.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/error.h"

namespace ralimp {

class Shape {
public:
    static constexpr int max_dims = 8;

    Shape() = default;
    Shape(std::initializer_list<int64_t> sizes) : Shape(sizes.begin(), sizes.end()) {}
    explicit Shape(const std::vector<int64_t>& sizes) : Shape(sizes.begin(), sizes.end()) {}
    template <class Iterator>
    Shape(Iterator first, Iterator last) {
        for (; first != last; ++first) push_back(*first);
    }
    static Shape filled(int dims, int64_t value) {
        Shape shape;
        for (int i = 0; i < dims; ++i) shape.push_back(value);
        return shape;
    }

    int dims() const { return dims_; }
    bool empty() const { return dims_ == 0; }
    // Unchecked; axis is in [0, dims).
    int64_t& operator[](int axis) { return sizes_[axis]; }
    int64_t operator[](int axis) const { return sizes_[axis]; }
    int64_t back() const { return sizes_[dims_ - 1]; }
    const int64_t* begin() const { return sizes_.data(); }
    const int64_t* end() const { return sizes_.data() + dims_; }
    int64_t* begin() { return sizes_.data(); }
    int64_t* end() { return sizes_.data() + dims_; }

    void push_back(int64_t size) {
        check(dims_ < max_dims, "a tensor has at most {} axes", max_dims);
        sizes_[dims_++] = size;
    }
    void insert(int axis, int64_t size) {
        push_back(0);
        std::copy_backward(begin() + axis, end() - 1, end());
        sizes_[axis] = size;
    }
    void erase(int axis) {
        std::copy(begin() + axis + 1, end(), begin() + axis);
        --dims_;
    }

    // Product of the sizes; 1 for a shape without axes.
    int64_t elements() const {
        int64_t product = 1;
        for (int64_t size : *this) product *= size;
        return product;
    }

    friend bool operator==(const Shape& a, const Shape& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    std::array<int64_t, max_dims> sizes_{};
    int dims_ = 0;
};

// "[64, 128]". In a message give the shape itself to check() and fail(), which format it only when
// they throw: writing the string on every call would cost more than a small operation.
std::string to_string(const Shape& shape);

// Strides, in elements, of a row-major array of this shape.
Shape row_major_strides(const Shape& shape);

// The shape both broadcast to by the usual rule (axes aligned at the end, sizes equal or 1).
Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b);

// An axis given as -dims … dims-1, as 0 … dims-1.
int normalize_axis(const char* operation, int64_t axis, int dims);

}  // namespace ralimp

template <>
struct fmt::formatter<ralimp::Shape> {
    constexpr auto parse(format_parse_context& context) { return context.begin(); }
    template <class Context>
    auto format(const ralimp::Shape& shape, Context& context) const {
        const std::string text = to_string(shape);
        return std::copy(text.begin(), text.end(), context.out());
    }
};
