#include "core/quadrature.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace ralimp {
namespace {

// Eigenvalues, ascending, of the symmetric tridiagonal matrix: implicit QL steps with Wilkinson's
// shift.
std::vector<double> tridiagonal_eigenvalues(std::vector<double> d, std::vector<double> e) {
    const int n = static_cast<int>(d.size());
    e.resize(d.size(), 0.0);
    e[d.size() - 1] = 0;
    const auto at = [](std::vector<double>& v, int i) -> double& {
        return v[static_cast<std::size_t>(i)];
    };
    for (int low = 0; low < n; ++low) {
        for (int round = 0;; ++round) {
            int high = low;
            for (; high + 1 < n; ++high) {
                const double neighbours = std::abs(at(d, high)) + std::abs(at(d, high + 1));
                if (std::abs(at(e, high)) <= std::numeric_limits<double>::epsilon() * neighbours)
                    break;
            }
            if (high == low) break;
            check(round < 60, "gauss_rule: the eigenvalues of {} nodes do not converge", n);
            double g = (at(d, low + 1) - at(d, low)) / (2 * at(e, low));
            double r = std::hypot(g, 1.0);
            g = at(d, high) - at(d, low) + at(e, low) / (g + std::copysign(r, g));
            double sine = 1, cosine = 1, shift = 0;
            int i = high - 1;
            for (; i >= low; --i) {
                const double f = sine * at(e, i), b = cosine * at(e, i);
                r = std::hypot(f, g);
                at(e, i + 1) = r;
                if (r == 0) {
                    at(d, i + 1) -= shift;
                    at(e, high) = 0;
                    break;
                }
                sine = f / r;
                cosine = g / r;
                g = at(d, i + 1) - shift;
                r = (at(d, i) - g) * sine + 2 * cosine * b;
                shift = sine * r;
                at(d, i + 1) = g + shift;
                g = cosine * r - b;
            }
            if (i >= low) continue;
            at(d, low) -= shift;
            at(e, low) = g;
            at(e, high) = 0;
        }
    }
    std::sort(d.begin(), d.end());
    return d;
}

}  // namespace

QuadratureRule gauss_rule(const std::vector<double>& diagonal,
                          const std::vector<double>& off_diagonal, double mass) {
    const std::size_t n = diagonal.size();
    check(n >= 1 && off_diagonal.size() == n,
          "gauss_rule: needs as many entries beside the diagonal ({}) as on it ({}), at least one",
          off_diagonal.size(), n);
    QuadratureRule rule{tridiagonal_eigenvalues(diagonal, off_diagonal), {}};
    for (double& node : rule.nodes) {
        double squares = 1;
        for (int step = 0; step < 3; ++step) {
            double before = 0, p = 1, before_slope = 0, slope = 0;
            squares = 0;
            for (std::size_t k = 0; k < n; ++k) {
                squares += p * p;
                const double b = k == 0 ? 0 : off_diagonal[k - 1];
                const double next = ((node - diagonal[k]) * p - b * before) / off_diagonal[k];
                const double next_slope =
                    (p + (node - diagonal[k]) * slope - b * before_slope) / off_diagonal[k];
                before = p, p = next;
                before_slope = slope, slope = next_slope;
            }
            if (step < 2) node -= p / slope;
        }
        rule.weights.push_back(mass / squares);
    }
    return rule;
}

QuadratureRule gauss_laguerre(int count) {
    check(count >= 1 && count <= 160, "gauss_laguerre: {} nodes are not in 1 … 160", count);
    std::vector<double> diagonal, off_diagonal;
    for (int k = 0; k < count; ++k) {
        diagonal.push_back(2 * k + 1);
        off_diagonal.push_back(k + 1);
    }
    return gauss_rule(diagonal, off_diagonal, 1);
}

QuadratureRule gauss_hermite(int count) {
    check(count >= 1 && count <= 300, "gauss_hermite: {} nodes are not in 1 … 300", count);
    std::vector<double> diagonal, off_diagonal;
    for (int k = 0; k < count; ++k) {
        diagonal.push_back(0);
        off_diagonal.push_back(std::sqrt((k + 1) / 2.0));
    }
    return gauss_rule(diagonal, off_diagonal, 1.77245385090551602730);
}

}  // namespace ralimp
