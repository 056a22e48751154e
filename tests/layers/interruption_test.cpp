// Whatever a network does before its first step can be interrupted in the middle, and no part of it
// that cannot is most of the whole.
#include "core/interruption.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "autograd/operations.h"
#include "layers/atoms.h"
#include "layers/network.h"
#include "layers/ridge.h"
#include "tests/layers/paper_ralimp.h"

namespace ralimp {
namespace {

struct Stopped {};

// What is asked while one lives: throws at a chosen call, and notes the longest time between two.
class Questions {
public:
    explicit Questions(int64_t last) {
        asked = 0;
        stop_at = last;
        longest = 0;
        before = begin = Clock::now();
        install_interruption_check([] {
            longest = std::max(longest, since(before));
            before = Clock::now();
            if (++asked == stop_at) throw Stopped();
        });
    }
    ~Questions() { install_interruption_check(nullptr); }
    static int64_t count() { return asked; }
    // Of the time so far, the largest share without a question.
    static double longest_pause() { return std::max(longest, since(before)) / since(begin); }

private:
    using Clock = std::chrono::steady_clock;
    static double since(Clock::time_point then) {
        return std::chrono::duration<double>(Clock::now() - then).count();
    }
    static inline int64_t asked, stop_at;
    static inline double longest;
    static inline Clock::time_point before, begin;
};

struct Work {
    const char* name;
    std::function<void()> make;
};

Tensor batch(int64_t rows, int64_t columns) {
    return random_normal({rows, columns}, {1, RandomStream::noise, 0}, DType::float64);
}

std::unique_ptr<Mlp> network(const HiddenConfig& hidden, int64_t width = 16) {
    NetworkConfig config;
    config.hidden_layers = 2;
    config.width = width;
    config.hidden = hidden;
    return make_network(config, {{-1, -1}, {1, 1}}, 1, DType::float64, 1);
}

RalimpConfig ralimp_config(PsiMode psi, int64_t features) {
    RalimpConfig config = paper_ralimp();
    config.psi = psi;
    config.features = features;
    return config;
}

// Each of some tenths of a second.
std::vector<Work> works() {
    const RandomKey key{3, RandomStream::projections, 0};
    RationalFitOptions minimax;
    minimax.minimax = true;
    FrequencyOptions optimized;
    optimized.rule = NodeRule::optimized;
    optimized.count = 24;
    return {
        {"rows", [=] { projection_rows(40000, 20, key); }},
        {"orthogonal rows",
         [=] {
             projection_rows(20000, 20, key, {true, false});
         }},
        {"wide orthogonal rows",
         [=] {
             projection_rows(700, 700, key, {true, false});
         }},
        {"a rational fit",
         [=] { fit_rational([](double t) { return std::tanh(t); }, 3, 2, 4, minimax); }},
        {"nodes",
         [=] {
             Atoms(fit_rational([](double t) { return std::tanh(t); }, 3, 2, 1), optimized,
                   DType::float64);
         }},
        {"least squares, more rows",
         [] { ridge_regression(batch(2500, 1200), batch(2500, 3), 1); }},
        {"least squares, more features",
         [] { ridge_regression(batch(1200, 5000), batch(1200, 3), 1); }},
        {"a network of weights",
         [] {
             network(ralimp_config(PsiMode::weights, 4000))->initialize_from_data(batch(4096, 2));
         }},
        {"a network of free psi",
         [] { network(ralimp_config(PsiMode::free, 100))->initialize_from_data(batch(4096, 2)); }},
        {"low-rank factors", [] { principal_factors(batch(700, 600), batch(2000, 600), 300); }},
        {"a low-rank network",
         [] { network(LowRankConfig{.rank = 20}, 400)->initialize_from_data(batch(4096, 2)); }},
        {"a network of ReLU features",
         [] { network(SnnkConfig{.features = 1000})->initialize_from_data(batch(4096, 2)); }},
        {"a network of product features",
         [] { network(EugenConfig{.features = 500})->initialize_from_data(batch(4096, 2)); }},
        {"a network of blocks",
         [] { network(MonarchConfig{}, 1000)->initialize_from_data(batch(4096, 2)); }},
        {"a wide dense network",
         [] { network(DenseHiddenConfig{}, 1100)->initialize_from_data(batch(4096, 2)); }},
    };
}

TEST(Interruption, OfEverythingBeforeTheFirstStep) {
    for (const Work& work : works()) {
        int64_t questions = 0;
        {
            const Questions all(-1);
            work.make();
            questions = Questions::count();
            EXPECT_LT(Questions::longest_pause(), 0.7) << work.name;
        }
        EXPECT_GE(questions, 4) << work.name;
        for (const int64_t at : {int64_t{1}, questions / 2}) {
            const Questions until(at);
            EXPECT_THROW(work.make(), Stopped) << work.name;
            EXPECT_EQ(Questions::count(), at) << work.name;
        }
    }
}

}  // namespace
}  // namespace ralimp
