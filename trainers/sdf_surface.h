// The surface that a signed distance field belongs to: a mesh from a file, or a solid that the
// program knows the exact distance of.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "data/mesh.h"
#include "data/solids.h"

namespace ralimp {

enum class NormalSource { triangles, file };

constexpr auto enum_names(NormalSource) {
    return std::array{std::pair{NormalSource::triangles, "triangles"},
                      std::pair{NormalSource::file, "file"}};
}

struct SdfDataConfig {
    std::optional<std::filesystem::path> mesh;
    SolidKind solid = SolidKind::torus_and_sphere;
    NormalSource normals = NormalSource::triangles;
    double margin = 0.1;

    static void describe(auto& config, auto& field) {
        field("mesh", config.mesh, "OBJ or PLY; null: the solid");
        field("solid", config.solid,
              "without mesh: a solid in [-1, 1]^3 of which the distance is known exactly");
        field("normals", config.normals,
              "of a mesh: those of its triangles, or those in the file, interpolated");
        field("margin", config.margin,
              "of a mesh: the longest side of its bounding box is scaled to 2 (1 - margin), its "
              "middle moved to 0",
              at_least(0).less_than(1));
        field.check("normals", config.mesh || config.normals == NormalSource::triangles,
                    "only a mesh has a file");
    }
};

// Lines for people: sizes, then a warning for every reason why the mesh is not the boundary of a
// solid with its triangles counterclockwise from outside. `open_because` says where edges with one
// triangle come from, if that is known.
std::vector<std::string> mesh_report(const Mesh& mesh, const std::string& open_because = "");

class SdfSurface {
public:
    // Reads the mesh: Error(bad_input) when it cannot be used, Error(bad_config) when the config
    // does not fit it.
    explicit SdfSurface(const SdfDataConfig& config);

    // Points uniform by area with normals, in [-1, 1]^3: a pure function of the key.
    SurfacePoints sample(int64_t count, const RandomKey& key) const;
    bool knows_distance() const { return !sampler_; }
    // [count, 3] -> [count], float64, of a solid.
    Tensor distance(const Tensor& points) const { return solid_distance(solid_, points); }
    // From the mesh's own coordinates to [-1, 1]^3.
    const Placement& placement() const { return placement_; }
    const std::vector<std::string>& remarks() const { return remarks_; }

private:
    SolidKind solid_;
    std::optional<SurfaceSampler> sampler_;
    Placement placement_;
    std::vector<std::string> remarks_;
};

}  // namespace ralimp
