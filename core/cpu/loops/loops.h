// The inner loops of the CPU backend: tables of function pointers over plain memory, one table per
// instruction set. Shapes, threads and errors are not their business. This folder is compiled once
// for each set with its flags, so it includes plain headers only: an inline function of the
// standard library compiled here could replace the copy of the whole program.
#pragma once
#include <cstdint>

#include "core/activation.h"
#include "core/exponential_features.h"
#include "core/layer_chain.h"
#include "core/scalar.h"

namespace ralimp::cpu {

// A block of rows times columns elements, and the strides (in elements) of one operand in it.
struct Extent {
    int64_t rows, columns;
};
struct Stride {
    int64_t row, column;
};

// A reduction of more elements than this is a reduction of the results of chunks of this size. The
// order inside a chunk is fixed as well: see loops/reduce.cpp.
constexpr int64_t reduction_chunk = 4096;

// Exponential features (core/exponential_features.h) of `points` points, with every derivative
// channel; channels of p, n and out are `points` rows apart.
template <class T>
struct FeatureArguments {
    const FeatureProgram* program;
    const T* p;      // [channels, points, projections]
    const T* n;      // [channels, points], or null
    const T* table;  // [feature_table::rows, features]
    const FeatureBlock* blocks;
    int64_t block_count, points, projections, features;
    int64_t padded_features;  // features, rounded up to a whole number of packs
};
template <class T>
struct FeatureGradients {
    const T* out;  // [channels, points, features]
    // Null where not wanted. p and n are written, table is added to.
    T *p, *n, *table;
};

// Points of a dense chain (core/layer_chain.h) that go through it together: 256 bytes of each
// feature and channel.
template <class T>
constexpr int64_t chain_block = 256 / sizeof(T);
// The most values of T that one pack may hold.
template <class T>
constexpr int64_t most_lanes = 64 / sizeof(T);

template <class T>
struct ChainStep {
    // As in ChainTensors; null where undefined.
    const T *weight, *packed, *bias, *growth, *norm_growth, *rotation, *norm_rotation,
        *norm_weights;
    const int32_t* projections;
    int64_t inputs, products, width;
    // Where the gradients of weight (if it has one), bias, growth, norm_growth and, of exponents
    // that oscillate, rotation and norm_rotation begin, one after the other.
    int64_t first_parameter;
    bool trains_weight;

    int64_t weights() const { return trains_weight ? products * inputs : 0; }
};
template <class T>
struct ChainArguments {
    const LayerChainProgram* program;
    const T* x;  // [channels, rows, inputs of the first step]
    const ChainStep<T>* steps;
    int64_t rows;
    int64_t panel;            // elements of the widest array's channels in a block
    int64_t saved_per_block;  // elements that the forward pass keeps
    int64_t parameters;       // of all steps
};
// One step of a packed chain for `rows` rows: x [rows, inputs], from it products and from both
// values, where a step is more than a product. Their rows are `stride` elements apart, a multiple
// of packed_lanes; what a row has room for is written.
template <class T>
constexpr int64_t packed_lanes = LayerChainProgram::packed_bytes / sizeof(T);
template <class T>
struct PackedRows {
    const ChainStep<T>* step;
    const T* x;
    T *products, *values;
    int64_t rows, x_stride, stride;
};
template <class T>
struct ChainGradients {
    const T* out;   // [channels, rows, width of the last step]
    T* x;           // written, or null
    T* parameters;  // written
};

// Loops over elements of type T. A null pointer: the operation does not exist for the type.
template <class T>
struct TypedLoops {
    void (*unary[scalar::Unary::size])(Extent, T* out, Stride, const T* in, Stride);
    void (*binary[scalar::Binary::size])(Extent, T* out, Stride, const T* a, Stride, const T* b,
                                         Stride);
    void (*compare[scalar::Compare::size])(Extent, uint8_t* out, Stride, const T* a, Stride,
                                           const T* b, Stride);
    void (*where)(Extent, T* out, Stride, const uint8_t* condition, Stride, const T* a, Stride,
                  const T* b, Stride);
    // Indexed by Reduction. Over the columns: out[row] from in[row, 0 … columns-1]; over the rows:
    // out[column] from in[0 … rows-1, column]. At most reduction_chunk elements go into one result;
    // both forms give the same bits.
    void (*reduce_columns[3])(Extent, T* out, int64_t out_stride, const T* in, Stride);
    void (*reduce_rows[3])(Extent, T* out, int64_t out_stride, const T* in, Stride);
    // Softmax along rows of neighbouring elements: of whole rows; or part by part, first the
    // largest element of each (but NaN; infinite ones count as 0 where they are subtracted) and Σ
    // e^(element - largest), then, with those of the row, its results.
    void (*softmax_rows)(T* out, const T* in, int64_t rows, int64_t columns);
    void (*softmax_sum)(const T* in, int64_t count, T* most, double* sum);
    void (*softmax_part)(T* out, const T* in, int64_t count, T most, double sum);
    // Conversion from this type, indexed by the DType of the target (float32 … uint8): to whole
    // numbers toward zero, to the nearest end of the range outside it, NaN to 0.
    void (*convert[5])(Extent, void* out, Stride, const T* in, Stride);
    // `count` points of channels that are `stride` elements apart; see core/activation.h.
    void (*activation_forward)(const ActivationProgram&, T* out, const T* in, int64_t stride,
                               int64_t count);
    void (*activation_backward)(const ActivationProgram&, T* in_gradient, const T* in, const T* out,
                                const T* out_gradient, int64_t stride, int64_t count);
    // Points begin … end-1. scratch: zeros, one row of padded_features per channel; backward: two.
    // The forward pass returns how many exponents it clamped.
    int64_t (*features_forward)(const FeatureArguments<T>&, T* out, T* scratch, int64_t begin,
                                int64_t end);
    void (*features_backward)(const FeatureArguments<T>&, const FeatureGradients<T>&, T* scratch,
                              int64_t begin, int64_t end);
    // Blocks begin … end-1 of a chain. forward: scratch [3 panel + channels block]; saved [blocks,
    // saved_per_block], or with keep = false room for one block; adds to clamped, one count for
    // each step. backward: scratch [5 panel + 2 channels block + most_lanes
    // parameters].
    void (*chain_forward)(const ChainArguments<T>&, T* out, T* saved, T* scratch, int64_t* clamped,
                          int64_t begin, int64_t end, bool keep);
    void (*chain_backward)(const ChainArguments<T>&, const ChainGradients<T>&, const T* saved,
                           T* scratch, int64_t begin, int64_t end);
    // Blocks begin … end-1 of the products of a packed chain; rows begin … end-1 of the values.
    void (*packed_products)(const PackedRows<T>&, int64_t begin, int64_t end);
    void (*packed_values)(const PackedRows<T>&, const LayerChainProgram&,
                          const LayerChainProgram::Step&, int64_t begin, int64_t end);
};

// The key and stream of random draws as Philox takes them (core/random.h).
struct PhiloxKey {
    uint64_t seed;
    uint32_t step, stream;
};

struct Loops {
    TypedLoops<float> float32;
    TypedLoops<double> float64;
    TypedLoops<int64_t> int64;
    TypedLoops<int32_t> int32;
    TypedLoops<uint8_t> uint8;
    // Copies elements of 1, 2, 4 and 8 bytes.
    void (*copy[4])(Extent, void* out, Stride, const void* in, Stride);
    // out[row] = in[position[row]], rows of neighbouring bytes; `step` is the distance of rows in
    // in. All sizes and strides in bytes, but position_stride in elements.
    void (*gather_rows)(int64_t rows, int64_t bytes, uint8_t* out, int64_t out_stride,
                        const uint8_t* in, int64_t step, const int64_t* position,
                        int64_t position_stride);
    // Draws of whole Philox blocks, from the one given on: four float32 or two float64 each.
    void (*uniform_float32)(const PhiloxKey&, uint64_t block, int64_t blocks, float* out);
    void (*uniform_float64)(const PhiloxKey&, uint64_t block, int64_t blocks, double* out);
    // Uniform numbers, `count` of them (even), made normal in place.
    void (*normal_float32)(float* values, int64_t count);
    void (*normal_float64)(double* values, int64_t count);
};

namespace baseline {
const Loops& loops();
}
namespace avx2 {
const Loops& loops();
}
namespace avx512 {
const Loops& loops();
}

}  // namespace ralimp::cpu
