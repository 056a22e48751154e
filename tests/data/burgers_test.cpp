#include "data/burgers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"
#include "data/hdf5_reader.h"
#include "data/samplers.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

constexpr double pi = 3.14159265358979323846;

// The same integrals by the trapezoidal rule, which converges exponentially too.
double by_trapezoids(double x, double t, double viscosity) {
    const double spread = 2 * std::sqrt(viscosity * t);
    constexpr int count = 3000;
    constexpr double step = 30.0 / count;
    const auto exponent = [&](int i) {
        const double z = step * i;
        return -z * z - std::cos(pi * (x - spread * z)) / (2 * pi * viscosity);
    };
    double largest = -INFINITY, numerator = 0, denominator = 0;
    for (int i = -count; i <= count; ++i) largest = std::max(largest, exponent(i));
    for (int i = -count; i <= count; ++i) {
        const double weight = std::exp(exponent(i) - largest);
        numerator += weight * std::sin(pi * (x - spread * step * i));
        denominator += weight;
    }
    return -numerator / denominator;
}

TEST(Burgers, AgreesWithAnotherQuadrature) {
    for (const double viscosity : {0.25, 0.1, 0.02, burgers_viscosity, 0.0015, 0.001})
        for (const double t : {1e-6, 0.01, 0.25, 0.4, 0.7, 1.0})
            for (const double x : {-1.0, -0.6, -0.02, -0.001, 0.0, 0.005, 0.1, 0.33, 0.95})
                ASSERT_NEAR(burgers_solution(x, t, viscosity), by_trapezoids(x, t, viscosity),
                            1e-12)
                    << "x " << x << " t " << t << " viscosity " << viscosity;
}

TEST(Burgers, StartsAtMinusSine) {
    for (double x = -1; x <= 1; x += 0.01) {
        EXPECT_EQ(burgers_solution(x, 0), -std::sin(pi * x));
        EXPECT_NEAR(burgers_solution(x, 1e-12), -std::sin(pi * x), 1e-10);
    }
}

TEST(Burgers, IsOddPeriodicAndZeroAtTheEnds) {
    for (const double t : {0.05, 0.3, 0.9}) {
        for (const double x : {0.013, 0.2, 0.77}) {
            EXPECT_NEAR(burgers_solution(-x, t), -burgers_solution(x, t), 1e-13);
            EXPECT_NEAR(burgers_solution(x + 2, t), burgers_solution(x, t), 1e-12);
        }
        for (const double x : {-1.0, 0.0, 1.0}) EXPECT_NEAR(burgers_solution(x, t), 0, 1e-13);
    }
}

// Derivatives by central differences of sixth order; the residual is compared with its terms.
TEST(Burgers, SatisfiesTheEquation) {
    struct Case {
        double viscosity, step, tolerance;
    };
    for (const auto& [viscosity, h, tolerance] :
         {Case{0.05, 2e-3, 1e-8}, Case{burgers_viscosity, 4e-4, 2e-5}})
        for (const double t : {0.1, 0.3, 0.5, 0.9})
            for (const double x : {-0.5, -0.1, -0.01, 0.004, 0.03, 0.6}) {
                const auto first = [&](auto&& f) {
                    return (45 * (f(1) - f(-1)) - 9 * (f(2) - f(-2)) + (f(3) - f(-3))) / (60 * h);
                };
                const auto along_x = [&](int i) {
                    return burgers_solution(x + i * h, t, viscosity);
                };
                const auto along_t = [&](int i) {
                    return burgers_solution(x, t + i * h, viscosity);
                };
                const double u = along_x(0), u_x = first(along_x), u_t = first(along_t);
                const double u_xx =
                    (-490 * u + 270 * (along_x(1) + along_x(-1)) - 27 * (along_x(2) + along_x(-2)) +
                     2 * (along_x(3) + along_x(-3))) /
                    (180 * h * h);
                const double size =
                    1 + std::abs(u_t) + std::abs(u * u_x) + std::abs(viscosity * u_xx);
                EXPECT_LT(std::abs(u_t + u * u_x - viscosity * u_xx) / size, tolerance)
                    << "x " << x << " t " << t << " viscosity " << viscosity;
            }
}

TEST(Burgers, ManyPointsAtOnceAndAnyNumberOfThreads) {
    const Tensor points = grid_points({{-1, 0}, {1, 1}}, {41, 33});
    const int threads = thread_count();
    set_thread_count(1);
    const auto one = burgers_solution(points).to_vector<double>();
    set_thread_count(3);
    const auto three = burgers_solution(points).to_vector<double>();
    set_thread_count(threads);
    EXPECT_EQ(one, three);
    EXPECT_EQ(burgers_solution(points).shape(), Shape({41 * 33, 1}));
    const auto* xt = points.data<double>();
    for (std::size_t i = 0; i < one.size(); ++i)
        ASSERT_EQ(one[i], burgers_solution(xt[2 * i], xt[2 * i + 1]));
    // Points stored as (t, x), seen as (x, t).
    const Tensor swapped = Tensor::from(std::vector<double>{0.5, 0.1, 0.25, -0.3}, {2, 2});
    EXPECT_EQ(burgers_solution(swapped.strided_view({2, 2}, {2, -1}, 1)).to_vector<double>(),
              (std::vector<double>{burgers_solution(0.1, 0.5), burgers_solution(-0.3, 0.25)}));
    EXPECT_EQ(burgers_solution(Tensor::empty({0, 2}, DType::float64)).shape(), Shape({0, 1}));
}

TEST(Burgers, RefusesWhatItCannotCompute) {
    EXPECT_EQ(error_of([] { burgers_solution(0, 0.5, 0.0001); }).text,
              "burgers_solution: viscosity 0.0001 is below 0.001, where 200 quadrature nodes do "
              "not suffice");
    EXPECT_EQ(
        error_of([] { burgers_solution(0, 2, 1.0); }).text,
        "burgers_solution: viscosity 1 times t 2 is above 0.25, where 200 quadrature nodes do "
        "not suffice");
    EXPECT_EQ(error_of([] { burgers_solution(0.5, -1); }).text,
              "burgers_solution: (0.5, -1) is not a point with t >= 0");
    EXPECT_NE(error_of([] { burgers_solution(NAN, 1); }).text, "");
    EXPECT_NE(error_of([] { burgers_solution(0, 1, NAN); }).text, "");
    EXPECT_EQ(error_of([] {
                  burgers_solution(Tensor::empty({4, 3}, DType::float64));
              }).text,
              "burgers_solution: points are [count, 2] (x, t), not [4, 3]");
}

TEST(BurgersData, AgreesWithThePublishedFile) {
    const char* data = std::getenv("RALIMP_DATA");
    if (!data) GTEST_SKIP() << "RALIMP_DATA is not set; it names the folder of real data";
    const std::string path = std::string(data) + "/pinn/burgers.h5";
    const auto x = read_hdf5_dataset(path, "x").to_vector<double>();
    const auto t = read_hdf5_dataset(path, "t").to_vector<double>();
    const Tensor u = read_hdf5_dataset(path, "u");  // [time, x]
    ASSERT_EQ(u.shape(), Shape({100, 256}));
    ASSERT_EQ(x.size(), 256u);
    ASSERT_EQ(t.size(), 100u);
    double worst = 0;
    for (std::size_t i = 0; i < t.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j)
            worst = std::max(
                worst, std::abs(u.data<double>()[i * 256 + j] - burgers_solution(x[j], t[i])));
    EXPECT_LT(worst, 1e-9);
    RecordProperty("worst_difference", fmt::format("{:.2e}", worst));
}

}  // namespace
}  // namespace ralimp
