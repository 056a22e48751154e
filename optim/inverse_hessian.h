// The inverse Hessian as a dense matrix, learned step by step.
#pragma once
#include <array>
#include <utility>

#include "optim/curvature.h"

namespace ralimp {

enum class InverseHessianUpdate { bfgs, self_scaled_bfgs, self_scaled_broyden };

constexpr auto enum_names(InverseHessianUpdate) {
    return std::array{std::pair{InverseHessianUpdate::bfgs, "bfgs"},
                      std::pair{InverseHessianUpdate::self_scaled_bfgs, "self_scaled_bfgs"},
                      std::pair{InverseHessianUpdate::self_scaled_broyden, "self_scaled_broyden"}};
}

// A member of Broyden's class, for b = s·B s / y·s and h = y·H y / y·s with B = H⁻¹:
// H⁺ = (H - H y (H y)ᵀ / y·H y + φ v vᵀ) / τ + s sᵀ / y·s,  v = √(y·H y) (s / y·s - H y / y·H y).
struct BroydenMember {
    double phi = 1;  // 1: BFGS, 0: DFP
    double tau = 1;  // scales what H knew before
};

// `parameters` is n. The self-scaled ones: Al-Baali, Spedicato & Maggioni, "Broyden's quasi-Newton
// methods for a nonlinear system of equations and unconstrained optimization" (2014), as used for
// physics-informed networks by Urbán, Stefanou & Pons, J. Comput. Phys. 523 (2025).
BroydenMember broyden_member(InverseHessianUpdate update, double b, double h, int64_t parameters);

class InverseHessian final : public Curvature {
public:
    InverseHessian(const ParameterLayout& layout, InverseHessianUpdate update);

    const Tensor& matrix() const { return matrix_; }  // [n, n] float64
    bool is_empty() const override { return updates_ == 0; }
    Tensor descent_direction(const Tensor& gradient) const override;
    // The first step also scales the identity that H starts as: Nocedal & Wright, "Numerical
    // optimization" (2nd ed., 2006), (6.20).
    void add(const AcceptedStep& step) override;
    void clear() override;
    OptimizerState state() const override;
    void load(const OptimizerState& state) override;

private:
    Tensor times(const Tensor& vector) const;  // H v, float64 [n]
    void set_to_identity(double scale);

    InverseHessianUpdate update_;
    Tensor matrix_;
    int64_t updates_ = 0;
};

}  // namespace ralimp
