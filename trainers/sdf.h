// A network that is a signed distance field of a surface in [-1, 1]^3: negative inside, positive
// outside (Sitzmann et al., NeurIPS 2020, section 4.2; the eikonal term as squared by Gropp et al.,
// ICML 2020).
#pragma once
#include <filesystem>

#include "layers/network.h"
#include "trainers/sdf_surface.h"
#include "trainers/task.h"
#include "trainers/training_config.h"

namespace ralimp {

struct SdfPointsConfig {
    int64_t surface = 2048;
    int64_t off_surface = 2048;

    static void describe(auto& config, auto& field) {
        field("surface", config.surface,
              "points on the surface, uniform by area, new ones every step", between(1, 1 << 20));
        field("off_surface", config.off_surface, "points uniform in [-1, 1]^3, new ones every step",
              between(1, 1 << 20));
    }
};

struct SdfLossConfig {
    double surface_weight = 3000;
    double normal_weight = 100;
    double eikonal_weight = 50;
    double off_surface_weight = 100;
    double alpha = 100;

    static void describe(auto& config, auto& field) {
        field("surface_weight", config.surface_weight, "of mean |f| on the surface", at_least(0));
        field("normal_weight", config.normal_weight,
              "of mean 1 - cos(gradient, normal) on the surface", at_least(0));
        field("eikonal_weight", config.eikonal_weight, "of mean (|gradient| - 1)^2 over all points",
              at_least(0));
        field("off_surface_weight", config.off_surface_weight,
              "of mean exp(-alpha |f|) off the surface", at_least(0));
        field("alpha", config.alpha, "the larger, the nearer to 0 f may be off the surface",
              at_least(0));
    }
};

struct SdfEvaluationConfig {
    int64_t points = 16384;

    static void describe(auto& config, auto& field) {
        field("points", config.points, "on the surface, and as many in [-1, 1]^3",
              between(1, 1 << 24));
    }
};

struct SdfConfig {
    RunSettings run;
    SdfDataConfig data;
    SdfPointsConfig points;
    NetworkConfig network{.hidden_layers = 4,
                          .width = 256,
                          .activation = Activation::sin,
                          .omega = 30,
                          .first_omega = 30,
                          .initialization = Initialization::siren,
                          .first_bias = {},
                          .hidden = {},
                          .scale_inputs = false};
    SdfLossConfig loss;
    SdfEvaluationConfig evaluation;

    static constexpr const char* kind = "sdf";
    static void describe(auto& config, auto& field) {
        RunSettings::describe(config.run, field);
        field("data", config.data, "the surface");
        field("points", config.points, "points of the loss");
        field("network", config.network, "the network");
        field("loss", config.loss, "weights of the terms of the loss");
        field("evaluation", config.evaluation, "where figures are measured");
    }
};

// The terms of the loss, summed over the rows given and divided by the number of points of the
// whole batch: surface, normal, eikonal, off_surface.
struct SdfTerms {
    Tensor surface, normal, eikonal, off_surface;
};
// f is the network's jet of first derivatives, its first rows those on the surface, with normals
// [rows, 3]; the counts are those of the batch. The length of a gradient is √(|∇f|² + 1e-12), so
// that it has a derivative where ∇f = 0.
SdfTerms sdf_terms(const Jet& f, const Tensor& normals, double alpha, int64_t surface_count,
                   int64_t off_surface_count);

class SdfTask : public Task {
public:
    // Errors as SdfSurface.
    explicit SdfTask(const SdfConfig& config);

    std::string kind() const override { return SdfConfig::kind; }
    Layer& model() override { return *network_; }
    std::unique_ptr<Layer> make_model(const NetworkConfig& network) const override;
    Tensor calibration_batch() const override;
    // Half of them on the surface.
    Tensor fresh_inputs(int64_t rows, int64_t number) const override;
    void set_batch(int64_t sample_step) override;
    int64_t parts() const override;
    int64_t rows_of_part() const override;
    Loss loss(int64_t part) const override;
    // Of a solid distance_error, mean |f - distance| in the box; then surface_distance, mean
    // |f| / |∇f| on the surface (the distance to where f is 0, to first order), surface_error, mean
    // |f| there, normal_angle, mean angle to the normal in degrees, and gradient_error, mean
    // ||∇f| - 1| in the box.
    NamedValues evaluate() override;
    std::vector<std::string> metric_names() const override;
    bool larger_is_better() const override { return false; }
    // slices.png: f in three planes across z with the line where it is 0; of a solid also the error
    // in the middle one.
    std::vector<std::string> draw(const std::filesystem::path& folder) override;
    // Marching cubes over [-1, 1]^3, in the coordinates of the mesh. Error(failure) when there is
    // no surface.
    void export_mesh(const ExportRequest& request,
                     const std::function<void(const std::string&)>& say) override;
    // The mesh and what is wrong with it; the weights of the loss.
    std::vector<std::string> remarks() const override;

private:
    RandomKey key_of(RandomStream stream, int64_t step) const;
    // f at points [rows, 3] float64: [rows] float64.
    Tensor values_at(const Tensor& points) const;
    // f and its gradient at points [rows, 3] float64: [rows, 4] float64.
    Tensor values_and_gradients(const Tensor& points) const;

    SdfConfig config_;
    DType dtype_;
    SdfSurface surface_;
    std::unique_ptr<Layer> network_;
    std::shared_ptr<const JetPlan> plan_;  // the three first derivatives
    int64_t part_rows_;
    Tensor surface_points_, normals_, off_surface_points_;  // [count, 3]
};

}  // namespace ralimp
