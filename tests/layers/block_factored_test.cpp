// Monarch and tensor-train matrices against their definitions, entry by entry.
#include "layers/block_factored.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "autograd/operations.h"

namespace ralimp {
namespace {

HiddenStart start_of(double scale = 1) {
    HiddenStart start;
    start.activation = Activation::sin;
    start.scale = scale;
    start.start = {Initialization::siren, scale, {5, RandomStream::parameters, 3}, 0.3};
    start.dtype = DType::float64;
    return start;
}

std::map<std::string, Tensor> tensors_of(Layer& layer) {
    std::map<std::string, Tensor> tensors;
    layer.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        tensors.emplace(name, tensor);
    });
    return tensors;
}

double entry(const Tensor& matrix, int64_t i, int64_t j) {
    return select(select(matrix, 0, i), 0, j).item();
}

double largest_difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

// M = L P R with 16 = 4 · 4: P takes (block, place) to (place, block), so that
// M[(k, i), (l, j)] = L_k[i, l] R_l[k, j].
TEST(Monarch, IsTwoBlockDiagonalFactorsAndAPermutation) {
    BlockFactored layer(16, 16, MonarchConfig{4}, start_of());
    auto tensors = tensors_of(layer);
    const Tensor m = layer.matrix();
    for (int64_t k = 0; k < 4; ++k)
        for (int64_t i = 0; i < 4; ++i)
            for (int64_t l = 0; l < 4; ++l)
                for (int64_t j = 0; j < 4; ++j)
                    EXPECT_NEAR(entry(m, 4 * k + i, 4 * l + j),
                                entry(tensors[fmt::format("second.{}.weight", k)], i, l) *
                                    entry(tensors[fmt::format("first.{}.weight", l)], k, j),
                                1e-15);
}

// Sizes that the blocks do not divide: the same product with factors written out.
TEST(Monarch, UnevenBlocksAreAPermutationToo) {
    for (const auto& [inputs, outputs] : {std::pair{7, 7}, {11, 6}, {5, 13}, {1, 1}, {3, 2}}) {
        BlockFactored layer(inputs, outputs, MonarchConfig{4}, start_of());
        const int64_t between = std::min(inputs, outputs), blocks = std::min<int64_t>(4, between);
        auto tensors = tensors_of(layer);
        ASSERT_EQ(tensors.size(), static_cast<std::size_t>(2 * blocks + 1));
        const auto diagonal = [&](const char* name, int64_t rows, int64_t columns) {
            const Tensor matrix = Tensor::zeros({rows, columns}, DType::float64);
            int64_t row = 0, column = 0;
            for (int64_t k = 0; k < blocks; ++k) {
                const Tensor& block = tensors[fmt::format("{}.{}.weight", name, k)];
                matrix.strided_view(block.shape(), {columns, 1}, row * columns + column)
                    .copy_from(block);
                row += block.size(0);
                column += block.size(1);
            }
            EXPECT_EQ(row, rows);
            EXPECT_EQ(column, columns);
            return matrix;
        };
        const Tensor r = diagonal("first", between, inputs),
                     l = diagonal("second", outputs, between);
        // The place of row j of block k among all first rows, then all second rows, …
        std::vector<int64_t> order;
        const int64_t longest = (between + blocks - 1) / blocks;
        for (int64_t j = 0; j < longest; ++j) {
            int64_t begin = 0;
            for (int64_t k = 0; k < blocks; ++k) {
                const int64_t size = tensors[fmt::format("first.{}.weight", k)].size(0);
                if (j < size) order.push_back(begin + j);
                begin += size;
            }
        }
        const Tensor permuted = index_select(r, 0, Tensor::from(order, {between}));
        EXPECT_LT(largest_difference(layer.matrix(), matmul(l, permuted)), 1e-15);
    }
}

// W[(o, p), (i, j)] = Σ_s L_o[p, (i, s)] R_i[(o, s), j], in blocks that differ by at most one.
TEST(TensorTrain, IsTheSumOverItsRank) {
    for (const auto& [inputs, outputs, rank] :
         {std::tuple{12, 12, 1}, {12, 12, 3}, {16, 7, 2}, {13, 17, 1}, {1, 1, 2}, {2, 3, 2}}) {
        BlockFactored layer(inputs, outputs, TensorTrainConfig{rank}, start_of());
        auto tensors = tensors_of(layer);
        const auto [first, second] = tensor_train_blocks(inputs, outputs);
        EXPECT_EQ(tensors.size(), static_cast<std::size_t>(first + second + 1));
        EXPECT_NEAR(static_cast<double>(first), std::sqrt(inputs), 1);
        EXPECT_NEAR(static_cast<double>(second), std::sqrt(outputs), 1);
        const Tensor m = layer.matrix();
        int64_t row = 0;
        for (int64_t o = 0; o < second; ++o) {
            const Tensor& l = tensors[fmt::format("second.{}.weight", o)];
            int64_t column = 0;
            for (int64_t i = 0; i < first; ++i) {
                const Tensor& r = tensors[fmt::format("first.{}.weight", i)];
                for (int64_t p = 0; p < l.size(0); ++p)
                    for (int64_t j = 0; j < r.size(1); ++j) {
                        double sum = 0;
                        for (int64_t s = 0; s < rank; ++s)
                            sum += entry(l, p, i * rank + s) * entry(r, o * rank + s, j);
                        EXPECT_NEAR(entry(m, row + p, column + j), sum, 1e-14);
                    }
                column += r.size(1);
            }
            EXPECT_EQ(column, inputs);
            row += l.size(0);
        }
        EXPECT_EQ(row, outputs);
    }
}

// Multiplied out where that is faster, else factor by factor.
TEST(BlockFactored, ComputeTheSameInBothWays) {
    for (const int64_t width : {64, 67})
        for (const bool monarch : {true, false}) {
            BlockFactored layer =
                monarch ? BlockFactored(width, width, MonarchConfig{}, start_of(3))
                        : BlockFactored(width, width, TensorTrainConfig{2}, start_of(3));
            const Tensor x = random_normal({20, width}, {1, RandomStream::user, 0}, DType::float64);
            const Tensor z = linear(x, layer.matrix(), tensors_of(layer).at("bias"));
            EXPECT_LT(largest_difference(layer.forward(x), sin(z * 3.0)), 1e-12) << width;
        }
}

TEST(BlockFactored, StartsWithTheVarianceOfTheDenseLayer) {
    const HiddenStart start = start_of(30);
    const Tensor x =
        sin(random_normal({500, 24}, {1, RandomStream::user, 0}, DType::float64, 0.3, 2));
    const Tensor w = start_weight(20, 24, DType::float64, start.start);
    const double wanted = sum(variance(linear(x, w, Tensor()), {0})).item();
    for (const bool monarch : {true, false}) {
        BlockFactored layer = monarch ? BlockFactored(24, 20, MonarchConfig{}, start)
                                      : BlockFactored(24, 20, TensorTrainConfig{}, start);
        const auto own = [&] {
            return sum(variance(linear(x, layer.matrix(), Tensor()), {0})).item();
        };
        // Without the batch far more: ω is no part of the draw.
        EXPECT_GT(own(), 10 * wanted);
        layer.initialize_from_data(x);
        EXPECT_NEAR(own() / wanted, 1, 1e-9);
    }
}

TEST(BlockFactored, DrawsWhatIsSaid) {
    BlockFactored monarch(400, 400, MonarchConfig{4}, start_of());
    for (const auto& [name, tensor] : tensors_of(monarch)) {
        if (name == "bias") continue;
        EXPECT_LE(max(abs(tensor)).item(), 0.1) << name;  // 1/√100
        EXPECT_NEAR(std::sqrt(mean(square(tensor)).item()), 0.1 / std::sqrt(3.0), 2e-3) << name;
    }
    BlockFactored train(400, 400, TensorTrainConfig{4}, start_of());
    for (const auto& [name, tensor] : tensors_of(train)) {
        if (name == "bias") continue;
        // 20 inputs to 80 outputs, and 80 to 20.
        const double deviation = name[0] == 'f' ? 1 / std::sqrt(20.0) : 0.5 / std::sqrt(80.0);
        EXPECT_NEAR(std::sqrt(mean(square(tensor)).item()), deviation, 0.1 * deviation) << name;
    }
    // No two blocks are the same draws.
    const auto tensors = tensors_of(monarch);
    EXPECT_GT(largest_difference(tensors.at("first.0.weight"), tensors.at("first.1.weight")), 0.05);
    EXPECT_GT(largest_difference(tensors.at("first.0.weight"), tensors.at("second.0.weight")),
              0.05);
}

TEST(BlockFactored, CountByClosedFormulas) {
    for (const auto& [layer, numbers] :
         {std::pair{BlockFactored(64, 64, MonarchConfig{4}, start_of()), 2 * 64 * 64 / 4 + 64},
          {BlockFactored(64, 64, TensorTrainConfig{3}, start_of()), 3 * 2 * 512 + 64},
          {BlockFactored(20, 20, TensorTrainConfig{1}, start_of()), 20 * (5 + 4) + 20}}) {
        EXPECT_EQ(layer.count().trained, numbers);
        EXPECT_EQ(layer.count().deployed, numbers);
        EXPECT_EQ(layer.count().regenerated, numbers);
    }
}

}  // namespace
}  // namespace ralimp
