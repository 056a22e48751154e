// Gauss quadrature rules: nodes and weights in double precision, on the host.
#pragma once
#include <vector>

namespace ralimp {

struct QuadratureRule {
    std::vector<double> nodes;  // ascending
    std::vector<double> weights;
};

// ∫_0^∞ e^(-u) f(u) du ≈ Σ weights f(nodes), exact for polynomials of degree below 2 count.
// count in 1 … 160.
QuadratureRule gauss_laguerre(int count);

// ∫_-∞^∞ e^(-x²) f(x) dx ≈ Σ weights f(nodes), exact for polynomials of degree below 2 count.
// count in 1 … 300.
QuadratureRule gauss_hermite(int count);

// The rule of any weight function with the given total mass, from the recurrence of its orthonormal
// polynomials  b_(k+1) p_(k+1) = (x - a_k) p_k - b_k p_(k-1):  `diagonal` holds a_0 … a_(n-1),
// `off_diagonal` b_1 … b_n (b_n scales the polynomial whose roots are the nodes). The nodes are the
// eigenvalues of the tridiagonal matrix (Golub and Welsch, "Calculation of Gauss quadrature rules",
// 1969), refined by Newton's method; each weight is the mass over the sum of the squares of the
// polynomials (Christoffel), so that the smallest weights are accurate too.
QuadratureRule gauss_rule(const std::vector<double>& diagonal,
                          const std::vector<double>& off_diagonal, double mass);

}  // namespace ralimp
