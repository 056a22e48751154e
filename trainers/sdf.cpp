#include "trainers/sdf.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/operations.h"
#include "data/marching_cubes.h"
#include "data/samplers.h"
#include "trainers/pace.h"
#include "trainers/plot.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

const Box whole_box{{-1, -1, -1}, {1, 1, 1}};

// Steps never come as far; figures have points of their own.
constexpr int64_t evaluation_step = 0xFFFFFFFF;

Tensor gradient_of(const Jet& f) {
    return concatenate({f.derivative({0}), f.derivative({1}), f.derivative({2})}, 1);
}

Tensor dot(const Tensor& a, const Tensor& b) { return sum(a * b, {1}, true); }

}  // namespace

SdfTerms sdf_terms(const Jet& f, const Tensor& normals, double alpha, int64_t surface_count,
                   int64_t off_surface_count) {
    const int64_t on = normals.size(0), rows = f.rows();
    const Tensor gradient = gradient_of(f);
    const Tensor length = sqrt(dot(gradient, gradient) + 1e-12);
    const Tensor cosine = dot(slice(gradient, 0, 0, on), normals) / slice(length, 0, 0, on);
    const double surface_share = 1 / static_cast<double>(surface_count);
    const double off_share = 1 / static_cast<double>(off_surface_count);
    const double share = 1 / static_cast<double>(surface_count + off_surface_count);
    return {sum(abs(slice(f.value(), 0, 0, on))) * surface_share, sum(1.0 - cosine) * surface_share,
            sum(square(length - 1.0)) * share,
            sum(exp(abs(slice(f.value(), 0, on, rows)) * -alpha)) * off_share};
}

SdfTask::SdfTask(const SdfConfig& config)
    : config_(config),
      dtype_(dtype_of(config.run.precision)),
      surface_(config.data),
      network_(make_model(config.network)),
      plan_(JetPlan::make({{0}, {1}, {2}})),
      part_rows_(rows_per_part(plan_->channels(), hidden_width(config.network), dtype_)) {
    set_batch(0);
}

std::unique_ptr<Layer> SdfTask::make_model(const NetworkConfig& network) const {
    return make_network(network, whole_box, 1, dtype_, static_cast<uint64_t>(config_.run.seed));
}

RandomKey SdfTask::key_of(RandomStream stream, int64_t step) const {
    return {static_cast<uint64_t>(config_.run.seed), stream, static_cast<uint32_t>(step)};
}

void SdfTask::set_batch(int64_t sample_step) {
    const SurfacePoints sample =
        surface_.sample(config_.points.surface, key_of(RandomStream::points, sample_step));
    surface_points_ = to(sample.points, dtype_);
    normals_ = to(sample.normals, dtype_);
    off_surface_points_ = to(uniform_points(key_of(RandomStream::batches, sample_step), whole_box,
                                            config_.points.off_surface),
                             dtype_);
}

Tensor SdfTask::calibration_batch() const {
    return to(uniform_points(key_of(RandomStream::batches, evaluation_step), whole_box,
                             calibration_batch_rows),
              dtype_);
}

Tensor SdfTask::fresh_inputs(int64_t rows, int64_t number) const {
    RandomKey key = key_of(RandomStream::points, number);
    key.seed ^= uint64_t{1} << 63;
    const int64_t on = rows / 2;
    const Tensor surface = surface_.sample(on, key).points;
    key.stream = RandomStream::batches;
    return to(concatenate({surface, uniform_points(key, whole_box, rows - on)}), dtype_);
}

// Every part has points of both kinds.
int64_t SdfTask::parts() const {
    const int64_t on = config_.points.surface, off = config_.points.off_surface;
    return std::min((on + off + part_rows_ - 1) / part_rows_, std::min(on, off));
}

int64_t SdfTask::rows_of_part() const {
    return (config_.points.surface + config_.points.off_surface) / parts();
}

Loss SdfTask::loss(int64_t part) const {
    const int64_t all = parts();
    const auto part_of = [&](const Tensor& x) {
        return slice(x, 0, x.size(0) * part / all, x.size(0) * (part + 1) / all);
    };
    const Tensor x = concatenate({part_of(surface_points_), part_of(off_surface_points_)});
    const SdfLossConfig& weights = config_.loss;
    const SdfTerms terms =
        sdf_terms(network_->forward(Jet::input(x, plan_)), part_of(normals_), weights.alpha,
                  surface_points_.size(0), off_surface_points_.size(0));
    return {terms.surface * weights.surface_weight + terms.normal * weights.normal_weight +
                terms.eikonal * weights.eikonal_weight +
                terms.off_surface * weights.off_surface_weight,
            {{"surface", terms.surface},
             {"normal", terms.normal},
             {"eikonal", terms.eikonal},
             {"off_surface", terms.off_surface}}};
}

Tensor SdfTask::values_at(const Tensor& points) const {
    const Tensor values =
        in_pieces(to(points, dtype_), [&](const Tensor& x) { return network_->forward(x); });
    return to(select(values, 1, 0), DType::float64);
}

Tensor SdfTask::values_and_gradients(const Tensor& points) const {
    const Tensor values = in_pieces(to(points, dtype_), [&](const Tensor& x) {
        const Jet f = network_->forward(Jet::input(x, plan_));
        return concatenate({f.value(), gradient_of(f)}, 1);
    });
    return to(values, DType::float64);
}

std::vector<std::string> SdfTask::metric_names() const {
    std::vector<std::string> names{"surface_distance", "surface_error", "normal_angle",
                                   "gradient_error"};
    if (surface_.knows_distance()) names.insert(names.begin(), "distance_error");
    return names;
}

NamedValues SdfTask::evaluate() {
    const int64_t count = config_.evaluation.points;
    const SurfacePoints sample =
        surface_.sample(count, key_of(RandomStream::points, evaluation_step));
    const Tensor box_points =
        uniform_points(key_of(RandomStream::batches, evaluation_step), whole_box, count);
    const Tensor on = values_and_gradients(sample.points);
    const Tensor in_box = values_and_gradients(box_points);
    const auto value = [](const Tensor& row) { return slice(row, 1, 0, 1); };
    const auto gradient = [](const Tensor& row) { return slice(row, 1, 1, 4); };
    const auto length = [&](const Tensor& row) { return sqrt(dot(gradient(row), gradient(row))); };
    const auto average = [](const Tensor& x) { return mean(x).item(); };

    NamedValues metrics;
    if (surface_.knows_distance())
        metrics.emplace_back("distance_error",
                             average(abs(select(in_box, 1, 0) - surface_.distance(box_points))));
    // A gradient of 0 counts as very small.
    const Tensor slope = maximum(length(on), Tensor::scalar(1e-12, DType::float64));
    metrics.emplace_back("surface_distance", average(abs(value(on)) / slope));
    metrics.emplace_back("surface_error", average(abs(value(on))));
    double angles = 0;
    for (const double cosine : (dot(gradient(on), sample.normals) / slope).to_vector<double>())
        // clamp() would hide NaN.
        angles += std::acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
    metrics.emplace_back("normal_angle",
                         angles / static_cast<double>(count) * 180 / std::numbers::pi);
    metrics.emplace_back("gradient_error", average(abs(length(in_box) - 1.0)));
    return metrics;
}

std::vector<std::string> SdfTask::draw(const std::filesystem::path& folder) {
    constexpr int64_t side = 160;
    constexpr double half = 1 - 1.0 / side;  // to the middles of the outer cells
    const auto plane = [&](double z) {
        return grid_points({{z, -half, -half}, {z, half, half}}, {1, side, side});
    };
    // Rows of the picture are y, columns x.
    const auto points_of = [&](double z) {
        const Tensor p = plane(z);
        return concatenate({slice(p, 1, 2, 3), slice(p, 1, 1, 2), slice(p, 1, 0, 1)}, 1);
    };
    const auto picture = [&](const Tensor& values) { return reshape(values, {side, side}); };
    std::vector<Field> fields;
    for (const double z : {-0.4, 0.0, 0.4}) {
        fields.push_back({fmt::format("f, z = {:g}", z), picture(values_at(points_of(z))), 0});
        fields.back().zero_level = true;
    }
    if (surface_.knows_distance()) {
        const Tensor error = abs(fields[1].values - picture(surface_.distance(points_of(0))));
        fields.push_back({"|f - distance|, z = 0", error, 1, Palette::inferno});
    }
    plot_fields((folder / "slices.png").string(), fields, {"x", -1, 1}, {"y", -1, 1});
    return {"slices.png"};
}

void SdfTask::export_mesh(const ExportRequest& request,
                          const std::function<void(const std::string&)>& say) {
    const int64_t n = request.resolution;
    const MarchingCost cost = marching_cost({n, n, n});
    const double gigabytes = static_cast<double>(cost.grid_bytes + cost.mesh_bytes) / 1e9;
    const std::string estimate = fmt::format(
        "{0} x {0} x {0} cubes: {1:.3g} evaluations of the network, about {2:.2g} GB of memory", n,
        static_cast<double>(cost.evaluations), gigabytes);
    if (gigabytes > request.most_gigabytes)
        fail_with(ExitCode::bad_config,
                  "export: {}, more than {:g} GB; --memory GB allows more, --resolution N takes "
                  "less",
                  estimate, request.most_gigabytes);
    say(estimate);
    Pace pace(0, n + 1);
    double said = 0;
    Mesh mesh = marching_cubes(
        whole_box, {n, n, n}, [&](const Tensor& points) { return values_at(points); },
        [&](int64_t planes) {
            throw_if_stop_requested();
            pace.reached(planes);
            if (pace.seconds() < said + 2) return;
            said = pace.seconds();
            say(fmt::format("plane {}/{}  eta {}", planes, n + 1,
                            format_duration(pace.seconds_left())));
        });
    const Placement& placement = surface_.placement();
    for (Vector3& vertex : mesh.vertices)
        for (std::size_t k = 0; k < 3; ++k)
            vertex[k] = vertex[k] / placement.scale + placement.center[k];
    write_ply(request.file.string(), mesh);
    // Marching cubes closes it everywhere else.
    const char* const cut = "the surface leaves the box [-1, 1]^3 of the training and is cut there";
    for (const std::string& line : mesh_report(mesh, cut)) say(line);
    say(request.file.string());
}

std::vector<std::string> SdfTask::remarks() const {
    std::vector<std::string> lines = surface_.remarks();
    const SdfLossConfig& weights = config_.loss;
    lines.push_back(fmt::format(
        "loss: {:g} surface + {:g} normal + {:g} eikonal + {:g} off_surface, alpha {:g}",
        weights.surface_weight, weights.normal_weight, weights.eikonal_weight,
        weights.off_surface_weight, weights.alpha));
    return lines;
}

}  // namespace ralimp
