// SOAP: Adam in the slowly changing eigenbasis of Shampoo's preconditioners.
#pragma once
#include <map>
#include <optional>

#include "optim/eigenbasis.h"
#include "optim/first_order.h"

namespace ralimp {

struct SoapConfig {
    double learning_rate = 3e-3;
    double beta1 = 0.95;
    double beta2 = 0.95;
    double epsilon = 1e-8;
    double weight_decay = 0;
    std::optional<double> shampoo_beta = {};
    int64_t precondition_every = 10;
    int64_t max_side = 1024;
    ClippingConfig clipping = {};

    static constexpr const char* kind = "soap";
    static void describe(auto& config, auto& field) {
        field("learning_rate", config.learning_rate, "step size, multiplied by the schedule",
              more_than(0));
        field("beta1", config.beta1, "decay of the mean of the gradient", at_least(0).less_than(1));
        field("beta2", config.beta2, "decay of the mean of its square in the eigenbasis",
              at_least(0).less_than(1));
        field("epsilon", config.epsilon, "added to the root of the mean square", at_least(0));
        field("weight_decay", config.weight_decay,
              "share of a weight that a step removes per learning rate", at_least(0));
        field("shampoo_beta", config.shampoo_beta,
              "decay of the mean of G G^T and G^T G; null: beta2", at_least(0).less_than(1));
        field("precondition_every", config.precondition_every,
              "steps between two changes of the eigenbasis", at_least(1));
        field("max_side", config.max_side,
              "a longer side of a matrix keeps its own axes; a matrix without another is Adam's",
              at_least(1));
        field("clipping", config.clipping, "gradient clipping");
    }
};

// Vyas et al., "SOAP: Improving and stabilizing Shampoo using Adam" (2024), Algorithm 3, as in the
// authors' program: the first step of all moves nothing, it only finds the eigenbasis, so that no
// gradient is rotated by a basis that knows it. From then on every parameter makes Adam's steps,
// those without a side to rotate (numbers, vectors, more than two axes) in their own axes. Sides of
// 1 need no rotation. Weight decay is that of AdamW and touches only groups with `decay`.
class Soap final : public FirstOrderOptimizer {
public:
    Soap(ParameterLayout layout, const SoapConfig& config);

    std::string_view name() const override { return SoapConfig::kind; }
    OptimizerState state() const override;

protected:
    const std::vector<ParameterGroup>& ranges() const override { return ranges_; }
    void update(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
                double learning_rate, const GradientClip& clip) override;
    void load_checked(const OptimizerState& state) override;

private:
    struct Matrix {
        std::string name;
        std::optional<Eigenbasis> left, right;  // of the rows' index, of the columns'

        // Qₗᵀ X Qᵣ and back, [rows, columns].
        Tensor into_basis(const Tensor& x) const;
        Tensor out_of_basis(const Tensor& x) const;
    };

    bool is_rotated(int64_t side) const { return side > 1 && side <= config_.max_side; }
    bool is_rotated(const ParameterGroup& group) const;
    void adam(const ParameterGroup& range, const Tensor& parameters, const Tensor& gradient,
              double learning_rate, double weight_decay, const GradientClip& clip);
    // The preconditioners learn the gradient [rows, columns]; the basis starts or turns when due.
    void learn(Matrix& matrix, const ParameterGroup& range, const Tensor& gradient);

    SoapConfig config_;
    double shampoo_beta_;
    std::vector<ParameterGroup> ranges_;
    std::map<int64_t, Matrix> matrices_;  // by their offsets
    // [n], of matrices in the eigenbasis. The paper keeps the first moment in the parameters' axes
    // and rotates it each step: the same but for rounding, since the basis seldom changes.
    Tensor first_moment_, second_moment_;
};

}  // namespace ralimp
