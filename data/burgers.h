// The exact solution of the viscous Burgers problem that PINNs are measured on:
//   u_t + u u_x = ν u_xx on [-1, 1],  u(x, 0) = -sin πx,  u(±1, t) = 0.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace ralimp {

// ν of Raissi et al.: 0.01 / π.
inline constexpr double burgers_viscosity = 0.01 / 3.14159265358979323846;

// u(x, t) by the Cole–Hopf transformation (Cole 1951; Basdevant et al., "Spectral and finite
// difference solutions of the Burgers equation", 1986, eq. 2.5), its two integrals by one
// Gauss–Hermite rule, to 1e-12. t ≥ 0, ν ≥ 0.001, νt ≤ 0.25, any x (u is odd and has period 2).
double burgers_solution(double x, double t, double viscosity = burgers_viscosity);

// The same for each row (x, t) of points [count, 2] float64. Returns [count, 1] float64.
Tensor burgers_solution(const Tensor& points, double viscosity = burgers_viscosity);

}  // namespace ralimp
