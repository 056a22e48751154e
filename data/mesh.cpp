#include "data/mesh.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "core/file.h"
#include "core/parallel.h"

namespace ralimp {
namespace {

Vector3 minus(const Vector3& a, const Vector3& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Vector3 cross(const Vector3& a, const Vector3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Vector3& a) { return std::sqrt(dot(a, a)); }

// Twice the area, in the direction of the outside.
Vector3 doubled_area(const Mesh& mesh, const Triangle& triangle) {
    const Vector3& a = mesh.vertices[triangle[0]];
    return cross(minus(mesh.vertices[triangle[1]], a), minus(mesh.vertices[triangle[2]], a));
}

Vector3 weighted_sum(const std::vector<Vector3>& values, const Triangle& corners,
                     const Vector3& weights) {
    Vector3 sum{};
    for (std::size_t corner = 0; corner < 3; ++corner)
        for (std::size_t k = 0; k < 3; ++k) sum[k] += weights[corner] * values[corners[corner]][k];
    return sum;
}

// For each vertex the first in the order of places that lies where it does.
std::vector<uint32_t> welded_vertices(const Mesh& mesh) {
    std::vector<uint32_t> order(mesh.vertices.size()), result(mesh.vertices.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return mesh.vertices[a] != mesh.vertices[b] ? mesh.vertices[a] < mesh.vertices[b] : a < b;
    });
    for (std::size_t i = 0; i < order.size(); ++i)
        result[order[i]] = i > 0 && mesh.vertices[order[i]] == mesh.vertices[order[i - 1]]
                               ? result[order[i - 1]]
                               : order[i];
    return result;
}

// An edge as one triangle passes along it.
struct Side {
    uint32_t low, high;
    bool backwards;

    bool same_edge(const Side& other) const { return low == other.low && high == other.high; }
    auto operator<=>(const Side&) const = default;
};

// Of the triangles that are none after welding nothing is left.
std::vector<Side> sorted_sides(const Mesh& mesh, const std::vector<uint32_t>& welded) {
    std::vector<Side> sides;
    sides.reserve(3 * mesh.triangles.size());
    for (const Triangle& triangle : mesh.triangles) {
        const Triangle t{welded[triangle[0]], welded[triangle[1]], welded[triangle[2]]};
        if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
        for (std::size_t i = 0; i < 3; ++i) {
            const uint32_t from = t[i], to = t[(i + 1) % 3];
            sides.push_back({std::min(from, to), std::max(from, to), from > to});
        }
    }
    std::sort(sides.begin(), sides.end());
    return sides;
}

template <class T>
void append(std::vector<uint8_t>& bytes, T value) {
    auto raw = std::bit_cast<std::array<uint8_t, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

}  // namespace

Mesh read_mesh(const std::string& path) {
    const std::vector<uint8_t> bytes = read_file(path);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // The first line of a PLY says what it is; an OBJ has no such mark.
    if (text.starts_with("ply\n") || text.starts_with("ply\r\n")) return parse_ply(bytes, path);
    return parse_obj(text, path);
}

void write_ply(const std::string& path, const Mesh& mesh) {
    const std::string header = fmt::format(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\n"
        "property double y\nproperty double z\nelement face {}\n"
        "property list uchar uint vertex_indices\nend_header\n",
        mesh.vertices.size(), mesh.triangles.size());
    std::vector<uint8_t> bytes;
    bytes.reserve(header.size() + 24 * mesh.vertices.size() + 13 * mesh.triangles.size());
    bytes.insert(bytes.end(), header.begin(), header.end());
    for (const Vector3& vertex : mesh.vertices)
        for (const double x : vertex) append(bytes, x);
    for (const Triangle& triangle : mesh.triangles) {
        bytes.push_back(3);
        for (const uint32_t index : triangle) append(bytes, index);
    }
    write_file(path, bytes);
}

Vector3 unit(const Vector3& v) {
    // Squares of huge or tiny components would leave the range.
    const double largest = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])});
    if (largest == 0) return v;
    const Vector3 scaled{v[0] / largest, v[1] / largest, v[2] / largest};
    const double size = length(scaled);
    return {scaled[0] / size, scaled[1] / size, scaled[2] / size};
}

Box bounding_box(const Mesh& mesh) {
    check(!mesh.vertices.empty(), "bounding_box: the mesh has no vertex");
    const Vector3& first = mesh.vertices.front();
    Box box{{first.begin(), first.end()}, {first.begin(), first.end()}};
    for (const Vector3& vertex : mesh.vertices)
        for (std::size_t k = 0; k < 3; ++k) {
            box.lower[k] = std::min(box.lower[k], vertex[k]);
            box.upper[k] = std::max(box.upper[k], vertex[k]);
        }
    return box;
}

double area_of(const Mesh& mesh) {
    double sum = 0;
    for (const Triangle& triangle : mesh.triangles) sum += length(doubled_area(mesh, triangle)) / 2;
    return sum;
}

double volume_of(const Mesh& mesh) {
    if (mesh.vertices.empty()) return 0;
    // From a point of the mesh: far from 0 digits would be lost.
    const Vector3 origin = mesh.vertices.front();
    double sum = 0;
    for (const Triangle& triangle : mesh.triangles)
        sum += dot(minus(mesh.vertices[triangle[0]], origin), doubled_area(mesh, triangle)) / 6;
    return sum;
}

Placement normalize(Mesh& mesh, double margin) {
    check(margin >= 0 && margin < 1, "normalize: the margin is in [0, 1), not {}", margin);
    // Vertices that no triangle uses do not belong to the surface.
    std::vector<bool> used(mesh.vertices.size());
    for (const Triangle& triangle : mesh.triangles)
        for (const uint32_t index : triangle) used[index] = true;
    Mesh surface;
    for (std::size_t i = 0; i < used.size(); ++i)
        if (used[i]) surface.vertices.push_back(mesh.vertices[i]);
    const Box box = bounding_box(surface);
    Placement placement;
    double longest = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        placement.center[k] = box.lower[k] / 2 + box.upper[k] / 2;
        longest = std::max(longest, box.upper[k] - box.lower[k]);
    }
    placement.scale = 2 * (1 - margin) / longest;
    check(std::isnormal(placement.scale),
          "the mesh cannot be scaled to [-1, 1]: its bounding box is {:.3g} long", longest);
    for (Vector3& vertex : mesh.vertices)
        for (std::size_t k = 0; k < 3; ++k)
            vertex[k] = (vertex[k] - placement.center[k]) * placement.scale;
    return placement;
}

MeshDefects defects_of(const Mesh& mesh) {
    const std::vector<Side> sides = sorted_sides(mesh, welded_vertices(mesh));
    MeshDefects defects;
    for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
        while (end < sides.size() && sides[end].same_edge(sides[begin])) ++end;
        if (end - begin == 1) ++defects.open_edges;
        if (end - begin > 2) ++defects.crowded_edges;
        if (end - begin == 2 && sides[begin].backwards == sides[begin + 1].backwards)
            ++defects.flipped_edges;
    }
    return defects;
}

int64_t euler_characteristic(const Mesh& mesh) {
    const std::vector<Side> sides = sorted_sides(mesh, welded_vertices(mesh));
    std::vector<bool> used(mesh.vertices.size());
    int64_t vertices = 0, edges = 0;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (i == 0 || !sides[i].same_edge(sides[i - 1])) ++edges;
        for (const uint32_t vertex : {sides[i].low, sides[i].high}) {
            if (!used[vertex]) ++vertices;
            used[vertex] = true;
        }
    }
    return vertices - edges + static_cast<int64_t>(sides.size() / 3);
}

SurfaceSampler::SurfaceSampler(Mesh mesh, Normals normals)
    : mesh_(std::move(mesh)), kind_(normals) {
    check(kind_ == Normals::triangles || !mesh_.normal_triangles.empty(),
          "the mesh has no normals of its own");
    double sum = 0;
    areas_.reserve(mesh_.triangles.size());
    for (const Triangle& triangle : mesh_.triangles)
        areas_.push_back(sum += length(doubled_area(mesh_, triangle)) / 2);
    check(sum > 0 && std::isfinite(sum), "the area of the mesh is {}", sum);
}

SurfacePoints SurfaceSampler::sample(int64_t count, const RandomKey& key) const {
    SurfacePoints result{Tensor::empty({count, 3}, DType::float64),
                         Tensor::empty({count, 3}, DType::float64)};
    auto* points = result.points.data<double>();
    auto* normals = result.normals.data<double>();
    parallel_for(count, 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const auto draw = [&](uint64_t k) {
                return random_uniform<double>(key, 3 * static_cast<uint64_t>(i) + k);
            };
            // The first whose sum is larger has an area; rounding may reach the sum of all.
            auto at = std::upper_bound(areas_.begin(), areas_.end(), draw(0) * areas_.back());
            if (at == areas_.end())
                at = std::lower_bound(areas_.begin(), areas_.end(), areas_.back());
            const auto t = static_cast<std::size_t>(at - areas_.begin());
            // Uniform in the triangle: Turk, "Generating random points in triangles" (1990).
            const double root = std::sqrt(draw(1)), part = draw(2);
            const Vector3 weights{1 - root, root * (1 - part), root * part};
            const Vector3 point = weighted_sum(mesh_.vertices, mesh_.triangles[t], weights);
            const Vector3 flat = doubled_area(mesh_, mesh_.triangles[t]);
            Vector3 normal = flat;
            if (kind_ == Normals::file) {
                normal = weighted_sum(mesh_.normals, mesh_.normal_triangles[t], weights);
                // Opposite normals may cancel.
                if (!(length(normal) > 1e-6)) normal = flat;
            }
            const double size = length(normal);
            for (std::size_t k = 0; k < 3; ++k) {
                points[3 * i + static_cast<int64_t>(k)] = point[k];
                normals[3 * i + static_cast<int64_t>(k)] = normal[k] / size;
            }
        }
    });
    return result;
}

}  // namespace ralimp
