#include "data/marching_cubes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"

namespace ralimp {
namespace {

using Loop = std::vector<uint8_t>;  // edges, one after another around it

// Corners of each face, counterclockwise as seen from outside.
std::array<std::array<uint8_t, 4>, 6> make_faces() {
    std::array<std::array<uint8_t, 4>, 6> faces{};
    for (int axis = 0; axis < 3; ++axis) {
        const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
        for (int side = 0; side < 2; ++side) {
            const int first = side << axis;
            auto& face = faces[static_cast<std::size_t>(2 * axis + side)];
            const std::array corners{first, first | u, first | u | v, first | v};
            for (std::size_t i = 0; i < 4; ++i)
                face[i] = static_cast<uint8_t>(corners[side == 1 ? i : 3 - i]);
        }
    }
    return faces;
}

uint8_t edge_between(int a, int b) {
    const auto& edges = cube_edges();
    for (std::size_t edge = 0; edge < edges.size(); ++edge)
        if (edges[edge].from == std::min(a, b) && edges[edge].to == std::max(a, b))
            return static_cast<uint8_t>(edge);
    fail("cube: no edge between the corners {} and {}", a, b);
}

bool on_one_face(uint8_t first, uint8_t second) {
    const auto& edges = cube_edges();
    const auto corners = {edges[first].from, edges[first].to, edges[second].from, edges[second].to};
    for (int axis = 0; axis < 3; ++axis) {
        int above = 0;
        for (const uint8_t corner : corners) above += corner >> axis & 1;
        if (above == 0 || above == 4) return true;
    }
    return false;
}

// The surface meets each face in segments, one for each run of corners below 0; a cube's segments
// join into loops.
std::vector<Loop> loops_of(int below) {
    constexpr uint8_t nowhere = 255;
    std::array<uint8_t, 12> next;
    next.fill(nowhere);
    const auto is_below = [&](uint8_t corner) { return (below >> corner & 1) != 0; };
    for (const auto& face : make_faces())
        for (std::size_t i = 0; i < 4; ++i) {
            const auto corner = [&](std::size_t k) { return face[(i + k) % 4]; };
            if (is_below(corner(0)) || !is_below(corner(1))) continue;
            std::size_t last = 1;
            while (is_below(corner(last + 1))) ++last;
            next[edge_between(corner(0), corner(1))] = edge_between(corner(last), corner(last + 1));
        }
    std::vector<Loop> loops;
    for (uint8_t start = 0; start < 12; ++start) {
        Loop loop;
        for (uint8_t edge = start; next[edge] != nowhere;) {
            loop.push_back(edge);
            edge = std::exchange(next[edge], nowhere);
        }
        if (!loop.empty()) loops.push_back(loop);
    }
    return loops;
}

// A fan around an edge of which no diagonal lies within a face of the cube; every loop has one.
std::vector<std::array<uint8_t, 3>> fan_of(const Loop& loop) {
    const std::size_t size = loop.size();
    for (std::size_t apex = 0; apex < size; ++apex) {
        const auto at = [&](std::size_t k) { return loop[(apex + k) % size]; };
        bool good = true;
        for (std::size_t k = 2; k + 1 < size; ++k) good = good && !on_one_face(at(0), at(k));
        if (!good) continue;
        std::vector<std::array<uint8_t, 3>> triangles;
        for (std::size_t k = 1; k + 1 < size; ++k) triangles.push_back({at(0), at(k), at(k + 1)});
        return triangles;
    }
    fail("cube: a loop of {} edges has no fan", size);
}

// Where between two values of different sign 0 is, in [0, 1].
double crossing(double from, double to) {
    if (std::isinf(from)) return std::isinf(to) ? 0.5 : 1;
    if (std::isinf(to)) return 0;
    // Relative to the larger one no value is too large or too small for the difference.
    const double unit = std::max(std::abs(from), std::abs(to));
    return from / unit / (from / unit - to / unit);
}

constexpr uint32_t no_vertex = std::numeric_limits<uint32_t>::max();

// The values of one plane of points and the vertices on the edges that start in it, for the two
// axes within the plane and the one upwards.
struct Plane {
    std::vector<double> values;
    std::array<std::vector<uint32_t>, 3> vertices;

    explicit Plane(std::size_t points) : values(points) {
        for (auto& along : vertices) along.assign(points, no_vertex);
    }
};

class Extraction {
public:
    Extraction(const Box& box, const std::array<int64_t, 3>& cubes, const PointFunction& function)
        : box_(box),
          cubes_(cubes),
          function_(function),
          width_(cubes[0] + 1),
          points_(width_ * (cubes[1] + 1)),
          lower_(static_cast<std::size_t>(points_)),
          upper_(static_cast<std::size_t>(points_)) {}

    Mesh run(const std::function<void(int64_t)>& progress) {
        for (int64_t z = 0; z <= cubes_[2]; ++z) {
            std::swap(lower_, upper_);
            evaluate(z);
            for (auto& along : upper_.vertices) std::fill(along.begin(), along.end(), no_vertex);
            if (z > 0) add_layer(z - 1);
            if (progress) progress(z + 1);
        }
        if (mesh_.triangles.empty())
            fail("no surface: the values lie between {:.6g} and {:.6g}", lowest_, highest_);
        return std::move(mesh_);
    }

private:
    double place(std::size_t axis, int64_t index) const {
        return std::lerp(box_.lower[axis], box_.upper[axis],
                         static_cast<double>(index) / static_cast<double>(cubes_[axis]));
    }

    void evaluate(int64_t z) {
        constexpr int64_t most_points = 65536;
        for (int64_t begin = 0; begin < points_; begin += most_points) {
            const int64_t end = std::min(begin + most_points, points_);
            const Tensor points = Tensor::empty({end - begin, 3}, DType::float64);
            auto* out = points.data<double>();
            for (int64_t i = begin; i < end; ++i) {
                *out++ = place(0, i % width_);
                *out++ = place(1, i / width_);
                *out++ = place(2, z);
            }
            const std::vector<double> values = function_(points).to_vector<double>();
            check(static_cast<int64_t>(values.size()) == end - begin,
                  "marching_cubes: {} values for {} points", values.size(), end - begin);
            for (int64_t i = begin; i < end; ++i) {
                const double value = values[static_cast<std::size_t>(i - begin)];
                check(!std::isnan(value), "the function is NaN at ({:g}, {:g}, {:g})",
                      place(0, i % width_), place(1, i / width_), place(2, z));
                lowest_ = std::min(lowest_, value);
                highest_ = std::max(highest_, value);
                upper_.values[static_cast<std::size_t>(i)] = value;
            }
        }
    }

    // The cubes between the two planes.
    void add_layer(int64_t z) {
        for (int64_t y = 0; y < cubes_[1]; ++y)
            for (int64_t x = 0; x < cubes_[0]; ++x) {
                std::size_t below = 0;
                for (std::size_t corner = 0; corner < 8; ++corner)
                    if (value_at(x, y, corner) < 0) below |= std::size_t{1} << corner;
                for (const auto& triangle : cube_triangles()[below])
                    mesh_.triangles.push_back({vertex_on(triangle[0], x, y, z),
                                               vertex_on(triangle[1], x, y, z),
                                               vertex_on(triangle[2], x, y, z)});
            }
    }

    // Of a corner of the cube (x, y): its plane, and where it stands there.
    Plane& plane_of(std::size_t corner) { return corner >> 2 ? upper_ : lower_; }
    std::size_t index_of(int64_t x, int64_t y, std::size_t corner) const {
        return static_cast<std::size_t>(x + static_cast<int64_t>(corner & 1) +
                                        (y + static_cast<int64_t>(corner >> 1 & 1)) * width_);
    }
    double value_at(int64_t x, int64_t y, std::size_t corner) {
        return plane_of(corner).values[index_of(x, y, corner)];
    }

    uint32_t vertex_on(uint8_t edge_number, int64_t x, int64_t y, int64_t z) {
        const CubeEdge edge = cube_edges()[edge_number];
        uint32_t& vertex = plane_of(edge.from).vertices[edge.axis][index_of(x, y, edge.from)];
        if (vertex != no_vertex) return vertex;
        check(mesh_.vertices.size() < no_vertex, "marching_cubes: more than 2^32 vertices");
        const double from = value_at(x, y, edge.from), to = value_at(x, y, edge.to);
        const std::array<int64_t, 3> start{x + (edge.from & 1), y + (edge.from >> 1 & 1),
                                           z + (edge.from >> 2)};
        Vector3 point{place(0, start[0]), place(1, start[1]), place(2, start[2])};
        const std::size_t axis = edge.axis;
        point[axis] = std::lerp(point[axis], place(axis, start[axis] + 1), crossing(from, to));
        mesh_.vertices.push_back(point);
        return vertex = static_cast<uint32_t>(mesh_.vertices.size() - 1);
    }

    const Box& box_;
    std::array<int64_t, 3> cubes_;
    const PointFunction& function_;
    int64_t width_, points_;
    Plane lower_, upper_;
    double lowest_ = std::numeric_limits<double>::infinity();
    double highest_ = -std::numeric_limits<double>::infinity();
    Mesh mesh_;
};

}  // namespace

const std::array<CubeEdge, 12>& cube_edges() {
    static const std::array<CubeEdge, 12> edges = [] {
        std::array<CubeEdge, 12> all{};
        std::size_t edge = 0;
        for (uint8_t axis = 0; axis < 3; ++axis)
            for (uint8_t corner = 0; corner < 8; ++corner)
                if (!(corner >> axis & 1))
                    all[edge++] = {corner, static_cast<uint8_t>(corner | 1 << axis), axis};
        return all;
    }();
    return edges;
}

const std::array<std::vector<std::array<uint8_t, 3>>, 256>& cube_triangles() {
    static const std::array<std::vector<std::array<uint8_t, 3>>, 256> table = [] {
        std::array<std::vector<std::array<uint8_t, 3>>, 256> all;
        for (int below = 0; below < 256; ++below)
            for (const Loop& loop : loops_of(below))
                for (const auto& triangle : fan_of(loop))
                    all[static_cast<std::size_t>(below)].push_back(triangle);
        return all;
    }();
    return table;
}

MarchingCost marching_cost(const std::array<int64_t, 3>& cubes) {
    const auto [x, y, z] = cubes;
    const int64_t points = (x + 1) * (y + 1);
    constexpr int64_t point_bytes = sizeof(double) + 3 * sizeof(uint32_t);
    // Averaged over directions, a surface crosses 1.5 edges for each face of a cube that it is as
    // large as; each crossing is a vertex and, by Euler, two triangles. While a vector grows there
    // are three halves of it more.
    const int64_t vertices = 3 * (x * y + y * z + z * x);
    constexpr auto memory = static_cast<int64_t>(sizeof(Vector3) + 2 * sizeof(Triangle));
    constexpr int64_t in_file = 24 + 2 * 13;
    return {points * (z + 1), 2 * points * point_bytes, vertices * (memory * 5 / 2 + in_file)};
}

Mesh marching_cubes(const Box& box, const std::array<int64_t, 3>& cubes,
                    const PointFunction& function,
                    const std::function<void(int64_t planes)>& progress) {
    check(box.dims() == 3, "marching_cubes: a box of 3 axes, not {}", box.dims());
    for (std::size_t k = 0; k < 3; ++k) {
        check(std::isfinite(box.lower[k]) && std::isfinite(box.upper[k]) &&
                  box.lower[k] < box.upper[k],
              "marching_cubes: [{}, {}] is no interval (axis {})", box.lower[k], box.upper[k], k);
        check(cubes[k] >= 1 && cubes[k] <= 65535, "marching_cubes: {} cubes along axis {}",
              cubes[k], k);
    }
    return Extraction(box, cubes, function).run(progress);
}

}  // namespace ralimp
