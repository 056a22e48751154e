// Affine map x Wᵀ + b and the ways to start it.
#pragma once
#include <array>
#include <optional>
#include <utility>

#include "layers/layer.h"

namespace ralimp {

// How weights and biases start, for fan_in inputs and fan_out outputs. Uniform distributions U(-a,
// a):
//   xavier        a = sqrt(6 / (fan_in + fan_out)), bias 0               Glorot & Bengio 2010
//   xavier_normal N(0, 2 / (fan_in + fan_out)), bias 0                   Glorot & Bengio 2010
//   kaiming       a = sqrt(6 / fan_in), bias 0                           He et al. 2015, for ReLU
//   siren         a = sqrt(6 / fan_in) / omega                           Sitzmann et al. 2020
//   siren_first   a = 1 / fan_in                                         the first layer of a SIREN
//   fan_in        a = 1 / sqrt(fan_in)                                   what PyTorch starts with
// The siren forms and fan_in start the bias with U(±1 / sqrt(fan_in)), as the original code of
// SIREN, Gauss and WIRE networks does.
enum class Initialization { xavier, xavier_normal, kaiming, siren, siren_first, fan_in };

constexpr auto enum_names(Initialization) {
    using enum Initialization;
    return std::array{
        std::pair{xavier, "xavier"},           std::pair{xavier_normal, "xavier_normal"},
        std::pair{kaiming, "kaiming"},         std::pair{siren, "siren"},
        std::pair{siren_first, "siren_first"}, std::pair{fan_in, "fan_in"}};
}

struct LinearStart {
    Initialization initialization = Initialization::xavier;
    double omega = 30;
    RandomKey key;
    std::optional<double> bias;  // k: the bias starts with U(-k, k) instead, as FINER's does
};

class Linear : public Layer {
public:
    Linear(int64_t inputs, int64_t outputs, DType dtype, const LinearStart& start,
           bool bias = true);

    using Layer::forward;
    Jet forward(const Jet& x) const override { return linear(x, weight_, bias_); }
    std::vector<ChainLayer> as_chain() const override {
        return {{.weight = weight_, .bias = bias_}};
    }
    bool fits_chain(int64_t width) const override {
        return inputs() <= width && outputs() <= width;
    }
    int64_t inputs() const override { return weight_.size(1); }
    int64_t outputs() const override { return weight_.size(0); }
    void visit(const std::string& prefix, const ParameterVisitor& visitor) override;
    ParameterCount count() const override;
    std::string description() const override;

    const Tensor& weight() const { return weight_; }  // [outputs, inputs]
    const Tensor& bias() const { return bias_; }      // [outputs], or undefined

private:
    Tensor weight_, bias_;
};

// A weight [outputs, inputs] started as described above.
Tensor start_weight(int64_t outputs, int64_t inputs, DType dtype, const LinearStart& start);
Tensor start_bias(int64_t outputs, int64_t inputs, DType dtype, const LinearStart& start);

}  // namespace ralimp
