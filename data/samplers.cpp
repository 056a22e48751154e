#include "data/samplers.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "data/sobol.h"

namespace ralimp {
namespace {

constexpr int64_t points_of_a_chunk = 4096;
// Draws of different axes and purposes start this far apart.
constexpr uint64_t draws_apart = uint64_t{1} << 32;

void check_box(const char* operation, const Box& box, int64_t count) {
    check(box.dims() >= 1 && box.lower.size() == box.upper.size(),
          "{}: a box has as many lower bounds as upper ones, at least one, not {} and {}",
          operation, box.lower.size(), box.upper.size());
    for (std::size_t k = 0; k < box.lower.size(); ++k)
        check(std::isfinite(box.lower[k]) && std::isfinite(box.upper[k]) &&
                  box.lower[k] <= box.upper[k],
              "{}: [{}, {}] is not an interval (axis {})", operation, box.lower[k], box.upper[k],
              k);
    check(count >= 0, "{}: {} points cannot be drawn", operation, count);
}

// The position at `part` in [0, 1] between the bounds; rounding never leaves the box.
double between(double lower, double upper, double part) {
    return std::clamp(std::lerp(lower, upper, part), lower, upper);
}

}  // namespace

Tensor sample_points(Sampler sampler, const Box& box, int64_t count, const RandomKey& key) {
    switch (sampler) {
        case Sampler::latin_hypercube:
            return latin_hypercube_points(key, box, count);
        case Sampler::uniform:
            return uniform_points(key, box, count);
        case Sampler::sobol:
            return sobol_points(key, box, count);
        case Sampler::grid:
            break;
    }
    // The rounding makes 1000 points in three axes 10 each, though their cube root is not exact.
    const double root = std::pow(static_cast<double>(count), 1 / static_cast<double>(box.dims()));
    return grid_points(box, std::vector<int64_t>(static_cast<std::size_t>(box.dims()),
                                                 static_cast<int64_t>(root + 1e-9)));
}

Tensor uniform_points(const RandomKey& key, const Box& box, int64_t count, int64_t first) {
    check_box("uniform_points", box, count);
    check(first >= 0, "uniform_points: there is no point number {}", first);
    const int64_t dims = box.dims();
    Tensor points = Tensor::empty({count, dims}, DType::float64);
    auto* out = points.data<double>();
    parallel_for(count, points_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            for (int64_t k = 0; k < dims; ++k) {
                const auto axis = static_cast<std::size_t>(k);
                const double part =
                    random_uniform<double>(key, static_cast<uint64_t>((first + i) * dims + k));
                out[i * dims + k] = between(box.lower[axis], box.upper[axis], part);
            }
    });
    return points;
}

Tensor sobol_points(const RandomKey& key, const Box& box, int64_t count, int64_t first) {
    check_box("sobol_points", box, count);
    const int64_t dims = box.dims();
    check(dims <= sobol_axes, "sobol_points: at most {} axes, not {}", sobol_axes, dims);
    check(first >= 0 && count <= (int64_t{1} << 32) - first,
          "sobol_points: the sequence has 2^32 points, not {} after the first {}", count, first);
    std::vector<uint32_t> shift;
    for (int64_t k = 0; k < dims; ++k)
        shift.push_back(static_cast<uint32_t>(random_bits(key, static_cast<uint64_t>(k)) >> 32));
    Tensor points = Tensor::empty({count, dims}, DType::float64);
    auto* out = points.data<double>();
    parallel_for(count, points_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            for (int64_t k = 0; k < dims; ++k) {
                const auto axis = static_cast<std::size_t>(k);
                const uint32_t digits = sobol_digits(static_cast<uint32_t>(first + i), k);
                // In the middle of what 32 digits leave open.
                const double part = (static_cast<double>(digits ^ shift[axis]) + 0.5) * 0x1p-32;
                out[i * dims + k] = between(box.lower[axis], box.upper[axis], part);
            }
    });
    return points;
}

Tensor latin_hypercube_points(const RandomKey& key, const Box& box, int64_t count) {
    check_box("latin_hypercube_points", box, count);
    check(count <= most_latin_hypercube_points, "latin_hypercube_points: at most {} points, not {}",
          most_latin_hypercube_points, count);
    const int64_t dims = box.dims();
    Tensor points = Tensor::empty({count, dims}, DType::float64);
    auto* out = points.data<double>();
    // An axis is independent of the others; few points are not worth waking a thread.
    parallel_for(dims, count < points_of_a_chunk ? dims : 1, [&](int64_t begin, int64_t end) {
        // Sorting random numbers gives a random permutation; equal ones keep their order.
        std::vector<std::pair<uint64_t, int64_t>> strata(static_cast<std::size_t>(count));
        for (int64_t k = begin; k < end; ++k) {
            const auto axis = static_cast<std::size_t>(k);
            const uint64_t order = 2 * static_cast<uint64_t>(k) * draws_apart;
            const uint64_t place = order + draws_apart;
            for (int64_t i = 0; i < count; ++i)
                strata[static_cast<std::size_t>(i)] = {
                    random_bits(key, order + static_cast<uint64_t>(i)), i};
            std::sort(strata.begin(), strata.end());
            for (int64_t i = 0; i < count; ++i) {
                // 30 bits, none of them at an end of the interval: no rounding can move the point
                // into its neighbour's.
                const uint64_t bits = random_bits(key, place + static_cast<uint64_t>(i)) >> 34;
                const double inside = (static_cast<double>(bits) + 0.5) * 0x1p-30;
                const auto stratum =
                    static_cast<double>(strata[static_cast<std::size_t>(i)].second);
                out[i * dims + k] = between(box.lower[axis], box.upper[axis],
                                            (stratum + inside) / static_cast<double>(count));
            }
        }
    });
    return points;
}

Tensor grid_points(const Box& box, const std::vector<int64_t>& counts) {
    check_box("grid_points", box, 0);
    const int64_t dims = box.dims();
    check(static_cast<int64_t>(counts.size()) == dims,
          "grid_points: the box has {} axes, the counts {}", dims, counts.size());
    int64_t total = 1;
    for (const int64_t count : counts) {
        check(count >= 1 && count <= (int64_t{1} << 40) / total,
              "grid_points: {} points along an axis", count);
        total *= count;
    }
    Tensor points = Tensor::empty({total, dims}, DType::float64);
    auto* out = points.data<double>();
    parallel_for(total, points_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t rest = i;
            for (int64_t k = dims - 1; k >= 0; --k) {
                const auto axis = static_cast<std::size_t>(k);
                const int64_t count = counts[axis], position = rest % count;
                rest /= count;
                const double part =
                    count == 1 ? 0.5
                               : static_cast<double>(position) / static_cast<double>(count - 1);
                out[i * dims + k] = between(box.lower[axis], box.upper[axis], part);
            }
        }
    });
    return points;
}

}  // namespace ralimp
