// The table of operations that each backend fills; the only seam between the operations and the
// hardware. A kernel computes numbers: shapes, types and devices were checked by its caller, `out`
// is allocated, and the graph is not its business. Tensors are taken as they are, with any strides;
// inputs of elementwise kernels are already expanded (stride 0) to the shape of `out`, and `out`
// never overlaps an input unless it is the same view.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "core/activation.h"
#include "core/exponential_features.h"
#include "core/flat_kernels.h"
#include "core/layer_chain.h"
#include "core/random.h"
#include "core/scalar.h"
#include "core/tensor.h"

namespace ralimp {

enum class Reduction { sum, maximum, minimum };

// Of exponential features: `out` is given, the others are computed where they are defined.
struct FeatureGradientTensors {
    Tensor out, p, n, table;
};

// The tensors of one step of a layer chain; those in brackets may be undefined.
struct ChainTensors {
    Tensor weight = {};         // [products, inputs]
    Tensor packed = {};         // ([blocks, inputs, lanes]): the same, of a packed chain
    Tensor bias = {};           // ([products])
    Tensor growth = {};         // ([exponentials]); of real exponents there is one
    Tensor norm_growth = {};    // ([exponentials])
    Tensor rotation = {};       // ([exponentials]); of those that oscillate there is one
    Tensor norm_rotation = {};  // ([exponentials])
    Tensor norm_weights = {};   // ([inputs]); none: the norm is the mean square of the projections
    Tensor projections = {};    // int32 [exponentials]: the product that each exponent reads
    Tensor clamps = {};         // (int64 [2]): counts as in exponential features
};

// Of a layer chain: `out` is given, x and those of the steps are computed where they are defined.
// Norm weights, projections and clamps have none.
struct ChainGradientTensors {
    Tensor out, x;
    std::span<const ChainTensors> steps;
};

struct Kernels {
    using UnaryKernel = void (*)(const Tensor& out, const Tensor& in);
    using BinaryKernel = void (*)(const Tensor& out, const Tensor& a, const Tensor& b);

    // Elementwise, indexed by index_in<Op, scalar::Unary> and so on.
    std::array<UnaryKernel, scalar::Unary::size> unary;
    std::array<BinaryKernel, scalar::Binary::size> binary;
    std::array<BinaryKernel, scalar::Compare::size> compare;  // out: uint8
    void (*where)(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b);

    // Same shape, any strides; converts between types (rounds toward zero to whole numbers).
    void (*copy)(const Tensor& out, const Tensor& in);
    void (*fill)(const Tensor& out, double value);

    // Over the axes whose size is 1 in `out` and not in `in`; out has as many axes as in. The order
    // of summation is fixed by the shapes alone. Maximum and minimum return NaN when one is
    // present.
    void (*reduce)(Reduction reduction, const Tensor& out, const Tensor& in);
    // Position (int64) of the first largest or smallest value along the axis; out has size 1 there.
    void (*arg_reduce)(bool largest, const Tensor& out, const Tensor& in, int axis);

    // Along the last axis; both contiguous and not empty.
    void (*softmax)(const Tensor& out, const Tensor& in);

    // out[..., i, j] = Σ_k a[..., i, k] b[..., k, j] for equal leading (batch) axes, some with
    // stride 0.
    void (*matmul)(const Tensor& out, const Tensor& a, const Tensor& b);

    // Indices are int64 and were not checked: these throw Error for one out of range.
    // gather: out[i] = in[i with i[axis] = index[i]]; all three have the same number of axes.
    void (*gather)(const Tensor& out, const Tensor& in, const Tensor& index, int axis);
    // scatter_add: out[i with i[axis] = index[i]] += source[i], in the order of i.
    void (*scatter_add)(const Tensor& out, const Tensor& index, const Tensor& source, int axis);

    // Along one axis, from its start or, reversed, from its end.
    void (*cumulative_sum)(const Tensor& out, const Tensor& in, int axis, bool reversed);
    void (*cumulative_product)(const Tensor& out, const Tensor& in, int axis);
    // Stable; NaN sorts last. out: int64 positions along the axis.
    void (*argsort)(const Tensor& out, const Tensor& in, int axis, bool descending);
    // For each value the count of entries of the sorted last axis that are < value (right: <=
    // value). sorted [..., n] and values [..., m] have equal leading axes; out [..., m] int64.
    void (*searchsorted)(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right);

    // Fused activation of a stack of derivative channels (core/activation.h): in and out [channels,
    // …], contiguous.
    void (*activation_forward)(const ActivationProgram& program, const Tensor& out,
                               const Tensor& in);
    // in_gradient = (∂out/∂in)ᵀ out_gradient; all contiguous and of one shape.
    void (*activation_backward)(const ActivationProgram& program, const Tensor& in_gradient,
                                const Tensor& in, const Tensor& out, const Tensor& out_gradient);

    // Exponential features; shapes as in autograd/exponential_features.h, all contiguous, n may be
    // undefined. The forward pass adds to clamps, int64 [2] or undefined: how many exponents were
    // clamped, and how many there were. Several threads may add to the same counts at a time.
    void (*features_forward)(const FeatureProgram& program, const Tensor& out, const Tensor& p,
                             const Tensor& n, const Tensor& blocks, const Tensor& table,
                             const Tensor& clamps);
    void (*features_backward)(const FeatureProgram& program,
                              const FeatureGradientTensors& gradients, const Tensor& p,
                              const Tensor& n, const Tensor& blocks, const Tensor& table);
    // Adds to the same counts how many values of x (contiguous) are above the limit, and how many
    // there are.
    void (*count_above)(const Tensor& counts, const Tensor& x, double limit);

    // Chains of layers (core/layer_chain.h): x [channels, rows, inputs], out [channels, rows,
    // outputs]; all contiguous. The forward pass keeps in `saved` [chain_saved_elements()] what the
    // backward pass needs; it may be undefined. Clamps are counted as in features_forward.
    int64_t (*chain_saved_elements)(const LayerChainProgram& program, const Tensor& x,
                                    std::span<const ChainTensors> steps);
    void (*chain_forward)(const LayerChainProgram& program, const Tensor& out, const Tensor& saved,
                          const Tensor& x, std::span<const ChainTensors> steps);
    void (*chain_backward)(const LayerChainProgram& program, const ChainGradientTensors& gradients,
                           const Tensor& saved, const Tensor& x,
                           std::span<const ChainTensors> steps);
    // The forward pass of values alone, for few rows: x [rows, inputs], out [rows, outputs]. Needs
    // packed weights and counts no clamps.
    void (*packed_chain)(const LayerChainProgram& program, const Tensor& out, const Tensor& x,
                         std::span<const ChainTensors> steps);

    // Element i (row-major) is the draw number first + i of the key.
    void (*random_uniform)(const Tensor& out, const RandomKey& key, uint64_t first);
    void (*random_normal)(const Tensor& out, const RandomKey& key, uint64_t first);

    FlatKernels flat;  // of the optimizers, over whole parameter buffers
};

// The table of a device. Throws Error when this build has no backend for it.
const Kernels& kernels(Device device);

// How many kernels ran on the device so far; tests assert that their backend was really used.
int64_t kernel_launches(Device device);

// One line for the log: backend, instruction set, BLAS, threads.
std::string backend_description(Device device);

}  // namespace ralimp
