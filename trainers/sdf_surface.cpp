#include "trainers/sdf_surface.h"

#include "core/error.h"

namespace ralimp {

std::vector<std::string> mesh_report(const Mesh& mesh, const std::string& open_because) {
    const double volume = volume_of(mesh);
    std::vector<std::string> lines{fmt::format(
        "mesh: {} vertices, {} triangles, area {:.6g}, volume {:.6g}, Euler "
        "characteristic {}{}",
        mesh.vertices.size(), mesh.triangles.size(), area_of(mesh), volume,
        euler_characteristic(mesh), mesh.normal_triangles.empty() ? "" : ", with normals")};
    const MeshDefects defects = defects_of(mesh);
    if (!defects.watertight())
        lines.push_back(fmt::format(
            "warning: the mesh is not watertight: {} edges with one triangle{}, {} with more than "
            "two, {} between triangles of opposite orientation; inside and outside are not "
            "defined there",
            defects.open_edges,
            defects.open_edges > 0 && !open_because.empty() ? fmt::format(" ({})", open_because)
                                                            : "",
            defects.crowded_edges, defects.flipped_edges));
    else if (volume < 0)
        lines.push_back(
            "warning: the mesh is inside out: its triangles are clockwise as seen from outside, so "
            "that the distance is positive inside");
    return lines;
}

SdfSurface::SdfSurface(const SdfDataConfig& config) : solid_(config.solid) {
    if (!config.mesh) return;
    const std::string path = config.mesh->string();
    Mesh mesh = read_mesh(path);
    if (config.normals == NormalSource::file && mesh.normal_triangles.empty())
        fail_with(ExitCode::bad_config, "data.normals: file: {} has no normals for all its faces",
                  path);
    try {
        remarks_ = mesh_report(mesh);
        placement_ = normalize(mesh, config.margin);
        sampler_.emplace(std::move(mesh), config.normals == NormalSource::file
                                              ? SurfaceSampler::Normals::file
                                              : SurfaceSampler::Normals::triangles);
    } catch (const Error& error) {
        fail_with(ExitCode::bad_input, "{}: {}", path, error.what());
    }
    const auto& [x, y, z] = placement_.center;
    remarks_.push_back(fmt::format("into [-1, 1]^3: (x - ({:.6g}, {:.6g}, {:.6g})) * {:.6g}", x, y,
                                   z, placement_.scale));
}

SurfacePoints SdfSurface::sample(int64_t count, const RandomKey& key) const {
    return sampler_ ? sampler_->sample(count, key) : sample_solid(solid_, count, key);
}

}  // namespace ralimp
