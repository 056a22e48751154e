// The network that runs its layers one after the other.
#include "layers/mlp.h"

#include <gtest/gtest.h>

#include "autograd/operations.h"
#include "core/kernels.h"
#include "layers/dense.h"

namespace ralimp {
namespace {

// A network of more layers than one chain holds, with one that is too wide and one without bias.
TEST(Mlp, RunsNeighbouringSmallLayersAsOneChain) {
    LinearStart start;
    start.bias = 0.5;
    std::vector<std::unique_ptr<Layer>> layers;
    std::vector<const Layer*> each;
    const auto add = [&](auto layer) {
        each.push_back(layer.get());
        layers.push_back(std::move(layer));
    };
    int64_t width = 2;
    const auto dense = [&](int64_t outputs) {
        start.key = {5, RandomStream::user, static_cast<uint32_t>(layers.size())};
        add(std::make_unique<Dense>(width, outputs, DType::float64, start, Activation::tanh));
        width = outputs;
    };
    for (int i = 0; i < 40; ++i) dense(6);
    dense(100);
    dense(6);
    add(std::make_unique<Linear>(6, 5, DType::float64, start, false));
    add(std::make_unique<Linear>(5, 1, DType::float64, start));
    const Mlp network(std::move(layers));
    const Tensor points = random_normal({50, 2}, {11, RandomStream::user, 1}, DType::float64);
    const Jet x = Jet::input(points, JetPlan::make({{0, 0}}));
    Jet expected = x;
    for (const Layer* layer : each) expected = layer->forward(expected);
    const int64_t before = kernel_launches({});
    const Jet u = network.forward(x);
    EXPECT_LT(kernel_launches({}) - before, 20);  // one by one: three for each layer
    const std::vector<double> ours = u.channels().to_doubles(),
                              theirs = expected.channels().to_doubles();
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-12);
}

// Without a record wide layers join the chain as well, for whole blocks of rows only.
TEST(Mlp, RunsWideLayersAsOneChainWhereNothingIsRecorded) {
    LinearStart start;
    start.bias = 0.5;
    std::vector<std::unique_ptr<Layer>> layers;
    int64_t width = 3;
    for (const int64_t outputs : {65, 256, 300}) {
        start.key = {5, RandomStream::user, static_cast<uint32_t>(layers.size())};
        layers.push_back(
            std::make_unique<Dense>(width, outputs, DType::float64, start, Activation::sin));
        width = outputs;
    }
    const Mlp network(std::move(layers));
    for (const int64_t rows : {1, 63, 64, 65, 1000}) {
        const Jet x = Jet::input(random_normal({rows, 3}, {11}, DType::float64),
                                 JetPlan::make({{0, 0}, {1, 2}}));
        const Jet recorded = network.forward(x);
        const NoGrad pause;
        const int64_t before = kernel_launches({});
        const Jet y = network.forward(x);
        EXPECT_EQ(kernel_launches({}) - before == 1, rows >= 64);
        const std::vector<double> ours = y.channels().to_doubles(),
                                  theirs = recorded.channels().to_doubles();
        for (std::size_t i = 0; i < ours.size(); ++i)
            ASSERT_NEAR(ours[i], theirs[i], 1e-11) << rows << " rows";
    }
}

}  // namespace
}  // namespace ralimp
