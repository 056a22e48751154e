// Triangle meshes: reading OBJ and PLY, writing PLY, size and soundness, points on the surface.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/box.h"
#include "core/random.h"
#include "core/tensor.h"

namespace ralimp {

using Vector3 = std::array<double, 3>;
using Triangle = std::array<uint32_t, 3>;  // indices of vertices or of normals

struct Mesh {
    std::vector<Vector3> vertices;
    // Counterclockwise as seen from outside.
    std::vector<Triangle> triangles;
    // Normals at the corners of the triangles, of length 1, or 0 where the file has 0; none, or one
    // triangle of them for each triangle.
    std::vector<Vector3> normals;
    std::vector<Triangle> normal_triangles;
};

// Reads an OBJ or a PLY file; its content decides which, not its name. Every number has to be
// finite, every index in range; polygons become fans of triangles around their first corner, and
// triangles that name a vertex twice are left out. Error(bad_input) in one line, naming the file
// and the line or byte, when it is missing, damaged, or without a triangle.
Mesh read_mesh(const std::string& path);

// Wavefront OBJ: v, vn, vt and f, with positive or negative indices in the forms v, v/vt, v//vn and
// v/vt/vn. Names, groups, materials, lines and points are passed over; curves and surfaces of
// higher order are refused. The name is for messages.
Mesh parse_obj(std::string_view text, const std::string& name);

// Stanford PLY 1.0: ascii and binary of both byte orders. Wanted are x, y and z of the element
// vertex and the list vertex_indices (or vertex_index) of the element face; nx, ny and nz of
// vertices are normals. Everything else is passed over.
Mesh parse_ply(std::span<const uint8_t> file, const std::string& name);

// Writes vertices (as double, so that nothing is rounded) and triangles as a little-endian binary
// PLY. Error io when it cannot be written; the old file is then untouched.
void write_ply(const std::string& path, const Mesh& mesh);

// v at length 1, whatever its length; 0 stays 0.
Vector3 unit(const Vector3& v);

Box bounding_box(const Mesh& mesh);
double area_of(const Mesh& mesh);
// That which the surface encloses; negative when the triangles are clockwise as seen from outside.
double volume_of(const Mesh& mesh);

// x -> (x - center) · scale
struct Placement {
    Vector3 center{};
    double scale = 1;
};

// Moves the middle of the bounding box to 0 and scales its longest side to 2 (1 - margin), margin
// in [0, 1). Returns how; Error when the mesh is a point or too large or small for that.
Placement normalize(Mesh& mesh, double margin);

// How far a mesh is from the closed surface of a solid. Vertices at one place count as one, so that
// seams of textures are no holes.
struct MeshDefects {
    int64_t open_edges = 0;     // with a triangle on one side only
    int64_t crowded_edges = 0;  // between more than two triangles
    int64_t flipped_edges = 0;  // between two triangles that disagree about inside and outside

    bool watertight() const { return open_edges + crowded_edges + flipped_edges == 0; }
};
MeshDefects defects_of(const Mesh& mesh);

// Vertices - edges + faces: 2 for a sphere, 0 for a torus. Vertices without a triangle do not
// count.
int64_t euler_characteristic(const Mesh& mesh);

struct SurfacePoints {
    Tensor points;   // [count, 3] float64
    Tensor normals;  // [count, 3] float64, of length 1, pointing outwards
};

// Draws points of a mesh uniformly by area.
class SurfaceSampler {
public:
    enum class Normals { triangles, file };

    // With Normals::file those of the corners are interpolated. Error when the mesh has none or
    // has no area.
    explicit SurfaceSampler(Mesh mesh, Normals normals = Normals::triangles);

    // A pure function of the key.
    SurfacePoints sample(int64_t count, const RandomKey& key) const;

private:
    Mesh mesh_;
    Normals kind_;
    std::vector<double> areas_;  // of the triangles up to and with this one
};

}  // namespace ralimp
