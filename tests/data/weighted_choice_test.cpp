#include "data/weighted_choice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"

namespace ralimp {
namespace {

std::vector<int64_t> choose(const RandomKey& key, const std::vector<double>& weights,
                            int64_t count) {
    return choose_weighted(key, Tensor::from(weights, {static_cast<int64_t>(weights.size())}),
                           count)
        .to_vector<int64_t>();
}

TEST(ChooseWeighted, DifferentIndicesThatDependOnTheKeyAlone) {
    std::vector<double> weights(1000);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 7);
    const RandomKey key{3, RandomStream::points, 8};
    const auto chosen = choose(key, weights, 300);
    ASSERT_EQ(chosen.size(), 300u);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        ASSERT_TRUE(i == 0 || chosen[i - 1] < chosen[i]);
        EXPECT_NE(chosen[i] % 7, 0);  // weight 0
    }
    EXPECT_EQ(choose(key, weights, 300), chosen);
    EXPECT_NE(choose({3, RandomStream::points, 9}, weights, 300), chosen);
    // Only the ratios of weights matter, however small they are.
    for (double& weight : weights) weight *= 0x1p-1060;
    EXPECT_EQ(choose(key, weights, 300), chosen);
    const Tensor single = Tensor::ones({5}, DType::float32);
    EXPECT_EQ(choose_weighted(key, single, 5).to_vector<int64_t>(),
              (std::vector<int64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(choose(key, {}, 0), std::vector<int64_t>{});
}

// Two of four drawn one after another: P(i, j) = w_i/W · w_j/(W - w_i) + the other order. Each
// count within 5 sigma.
TEST(ChooseWeighted, ProbabilitiesAreThoseOfSuccessiveDraws) {
    const std::vector<double> weights{1, 2, 3, 6};
    constexpr int rounds = 40000;
    int count[4][4] = {};
    for (uint32_t step = 0; step < rounds; ++step) {
        const auto pair = choose({1, RandomStream::points, step}, weights, 2);
        ++count[pair[0]][pair[1]];
    }
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = i + 1; j < 4; ++j) {
            const double a = weights[i], b = weights[j];
            const double p = a / 12 * b / (12 - a) + b / 12 * a / (12 - b);
            EXPECT_NEAR(count[i][j], rounds * p, 5 * std::sqrt(rounds * p * (1 - p)));
        }
}

TEST(ChooseWeighted, Errors) {
    const RandomKey key;
    EXPECT_EQ(error_of([&] {
                  choose(key, {1, 0, 2}, 3);
              }).text,
              "choose_weighted: 3 of 3 items cannot be chosen, only 2 weights are positive");
    EXPECT_EQ(error_of([&] {
                  choose(key, {1, -2}, 1);
              }).text,
              "choose_weighted: weight 1 is -2, not a finite number of at least 0");
    EXPECT_NE(error_of([&] { choose(key, {NAN}, 1); }).text, "");
    EXPECT_NE(error_of([&] { choose(key, {INFINITY}, 1); }).text, "");
    EXPECT_NE(error_of([&] { choose(key, {1}, -1); }).text, "");
    EXPECT_NE(error_of([&] { choose_weighted(key, Tensor::ones({2, 2}), 1); }).text, "");
    EXPECT_NE(error_of([&] { choose_weighted(key, Tensor::arange(4), 1); }).text, "");
    EXPECT_NE(error_of([&] { choose_weighted(key, Tensor(), 1); }).text, "");
}

}  // namespace
}  // namespace ralimp
