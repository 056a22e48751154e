// Chains of small dense layers, block by block. Inside a block every array is [channels, features,
// points of the block], so that a product with a weight matrix multiplies whole packs of points by
// single weights, and the activation's loops run over features and points alike.
#include "core/cpu/loops/activation_loops.h"
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

template <class T>
constexpr int64_t packs = chain_block<T> / Pack<T>::width;

// Results held in registers at a time: rows of packs of points.
constexpr int group = 4;
#if defined(__AVX512F__)
constexpr int product_rows = 6, gradient_tile = 4;
#elif defined(__AVX2__)
constexpr int product_rows = 3, gradient_tile = 3;
#else
constexpr int product_rows = 2, gradient_tile = 2;
#endif

// A matrix that is read element by element: w[row, column].
template <class T>
struct Weights {
    const T* values;
    int64_t row, column;  // strides
};

// out[r] = bias[r] + Σ_k w[r, k] in[k] for `rows` rows of one channel; rows of in and out are one
// block long.
template <int rows, class T>
void product_tile(T* out, Weights<T> w, const T* bias, const T* in, int64_t inner) {
    using P = Pack<T>;
    for (int64_t begin = 0; begin < packs<T>; begin += group) {
        P sum[rows][group];
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < group; ++j) sum[r][j] = P(bias ? bias[r] : T(0));
        const T* column = in + begin * P::width;
        for (int64_t k = 0; k < inner; ++k, column += chain_block<T>) {
            P x[group];
            for (int j = 0; j < group; ++j) x[j] = P::load(column + j * P::width);
            for (int r = 0; r < rows; ++r) {
                const P weight(w.values[r * w.row + k * w.column]);
                for (int j = 0; j < group; ++j)
                    sum[r][j] = fused_multiply_add(weight, x[j], sum[r][j]);
            }
        }
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < group; ++j)
                sum[r][j].store(out + r * chain_block<T> + (begin + j) * P::width);
    }
}

// The same for any number of rows, in tiles of nearly equal size.
template <class T>
void product(T* out, Weights<T> w, const T* bias, const T* in, int64_t outer, int64_t inner) {
    const int64_t tiles = (outer + product_rows - 1) / product_rows;
    for (int64_t tile = 0, row = 0; tile < tiles; ++tile) {
        const int64_t rows = (outer - row + tiles - tile - 1) / (tiles - tile);
        T* to = out + row * chain_block<T>;
        const Weights<T> part{w.values + row * w.row, w.row, w.column};
        const T* shift = bias ? bias + row : nullptr;
        switch (rows) {
            case 1:
                product_tile<1>(to, part, shift, in, inner);
                break;
            case 2:
                product_tile<2>(to, part, shift, in, inner);
                break;
#if defined(__AVX2__)
            case 3:
                product_tile<3>(to, part, shift, in, inner);
                break;
#endif
#if defined(__AVX512F__)
            case 4:
                product_tile<4>(to, part, shift, in, inner);
                break;
            case 5:
                product_tile<5>(to, part, shift, in, inner);
                break;
            case 6:
                product_tile<6>(to, part, shift, in, inner);
                break;
#endif
        }
        row += rows;
    }
}

// sums[o, i] += Σ over channels and points of d[o] y[i], one sum for each lane of a pack.
// d [channels, outputs, block], y [channels, inputs, block].
template <int outputs_tile, int inputs_tile, class T>
void gradient_of_tile(T* sums, int64_t sums_row, const T* d, int64_t d_channel, const T* y,
                      int64_t y_channel, int channels) {
    using P = Pack<T>;
    P sum[outputs_tile][inputs_tile];
    for (int o = 0; o < outputs_tile; ++o)
        for (int i = 0; i < inputs_tile; ++i)
            sum[o][i] = P::load(sums + o * sums_row + i * P::width);
    for (int c = 0; c < channels; ++c, d += d_channel, y += y_channel)
        for (int64_t p = 0; p < chain_block<T>; p += P::width) {
            P left[outputs_tile];
            for (int o = 0; o < outputs_tile; ++o) left[o] = P::load(d + o * chain_block<T> + p);
            for (int i = 0; i < inputs_tile; ++i) {
                const P right = P::load(y + i * chain_block<T> + p);
                for (int o = 0; o < outputs_tile; ++o)
                    sum[o][i] = fused_multiply_add(left[o], right, sum[o][i]);
            }
        }
    for (int o = 0; o < outputs_tile; ++o)
        for (int i = 0; i < inputs_tile; ++i) sum[o][i].store(sums + o * sums_row + i * P::width);
}

template <int outputs_tile, class T>
void gradient_of_rows(T* sums, const T* d, int64_t d_channel, const T* y, int64_t y_channel,
                      int channels, int64_t inputs) {
    constexpr int width = Pack<T>::width;
    const int64_t row = inputs * width;
    int64_t i = 0;
    for (; i + gradient_tile <= inputs; i += gradient_tile)
        gradient_of_tile<outputs_tile, gradient_tile>(sums + i * width, row, d, d_channel,
                                                      y + i * chain_block<T>, y_channel, channels);
    for (; i < inputs; ++i)
        gradient_of_tile<outputs_tile, 1>(sums + i * width, row, d, d_channel,
                                          y + i * chain_block<T>, y_channel, channels);
}

template <class T>
void add_weight_gradient(T* sums, const T* d, const T* y, int channels, int64_t outputs,
                         int64_t inputs) {
    constexpr int width = Pack<T>::width;
    const int64_t d_channel = outputs * chain_block<T>, y_channel = inputs * chain_block<T>;
    int64_t o = 0;
    for (; o + gradient_tile <= outputs; o += gradient_tile)
        gradient_of_rows<gradient_tile>(sums + o * inputs * width, d + o * chain_block<T>,
                                        d_channel, y, y_channel, channels, inputs);
    for (; o < outputs; ++o)
        gradient_of_rows<1>(sums + o * inputs * width, d + o * chain_block<T>, d_channel, y,
                            y_channel, channels, inputs);
}

// The bias reaches the value alone.
template <class T>
void add_bias_gradient(T* sums, const T* d, int64_t outputs) {
    using P = Pack<T>;
    for (int64_t o = 0; o < outputs; ++o) {
        P sum = P::load(sums + o * P::width);
        for (int64_t p = 0; p < chain_block<T>; p += P::width)
            sum = sum + P::load(d + o * chain_block<T> + p);
        sum.store(sums + o * P::width);
    }
}

// in [channels, rows, features] -> panel [channels, features, block]; a last block is filled up
// with its last point, whose values are as good as any other's.
template <class T>
void load_panel(T* panel, const T* in, int channels, int64_t rows, int64_t features, int64_t begin,
                int64_t count) {
    for (int c = 0; c < channels; ++c)
        for (int64_t p = 0; p < chain_block<T>; ++p) {
            const T* point = in + (c * rows + begin + (p < count ? p : count - 1)) * features;
            for (int64_t f = 0; f < features; ++f)
                panel[(c * features + f) * chain_block<T> + p] = point[f];
        }
}

template <class T>
void store_panel(T* out, const T* panel, int channels, int64_t rows, int64_t features,
                 int64_t begin, int64_t count) {
    for (int c = 0; c < channels; ++c)
        for (int64_t p = 0; p < count; ++p) {
            T* point = out + (c * rows + begin + p) * features;
            for (int64_t f = 0; f < features; ++f)
                point[f] = panel[(c * features + f) * chain_block<T> + p];
        }
}

// Points beyond the end of the data must add nothing to any gradient.
template <class T>
void clear_beyond(T* panel, int64_t rows, int64_t count) {
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t p = count; p < chain_block<T>; ++p) panel[r * chain_block<T> + p] = T(0);
}

template <class T>
int64_t points_of(const ChainArguments<T>& a, int64_t block) {
    const int64_t left = a.rows - block * chain_block<T>;
    return left < chain_block<T> ? left : chain_block<T>;
}

template <class T>
void forward(const ChainArguments<T>& a, T* out, T* saved, T* scratch, int64_t begin, int64_t end,
             bool keep) {
    const int channels = a.program->composition.channels, layers = a.program->layers;
    T* first = scratch;  // the input's panel
    T* last = scratch + a.panel;
    for (int64_t block = begin; block < end; ++block) {
        load_panel(first, a.x, channels, a.rows, a.widths[0], block * chain_block<T>,
                   points_of(a, block));
        const T* y = first;
        T* to = saved + (keep ? block * a.saved_per_block : 0);
        for (int l = 0; l < layers; ++l) {
            const int64_t inner = a.widths[l], outer = a.widths[l + 1];
            const int64_t size = outer * chain_block<T>;
            const bool linear = a.program->steps[l].linear();
            T* sums = linear && l == layers - 1 ? last : to;
            for (int c = 0; c < channels; ++c)
                product<T>(sums + c * size, {a.weights[l], inner, 1},
                           c == 0 ? a.biases[l] : nullptr, y + c * inner * chain_block<T>, outer,
                           inner);
            y = sums;
            if (linear && l == layers - 1) break;
            T* values = to + channels * size;
            activation_forward(a.program->program(l), values, sums, size, size);
            y = values;
            to = values + channels * size;
        }
        store_panel(out, y, channels, a.rows, a.widths[layers], block * chain_block<T>,
                    points_of(a, block));
    }
}

template <class T>
T sum_of_lanes(const T* lanes) {
    T sum = lanes[0];
    for (int i = 1; i < Pack<T>::width; ++i) sum += lanes[i];
    return sum;
}

template <class T>
void backward(const ChainArguments<T>& a, const ChainGradients<T>& g, const T* saved, T* scratch,
              int64_t begin, int64_t end) {
    const int channels = a.program->composition.channels, layers = a.program->layers;
    constexpr int width = Pack<T>::width;
    T* first = scratch;
    T* d = scratch + a.panel;
    T* other = d + a.panel;
    T* sums = other + a.panel;  // one pack for each parameter
    for (int64_t i = 0; i < a.parameters * width; ++i) sums[i] = T(0);
    for (int64_t block = begin; block < end; ++block) {
        const int64_t points = points_of(a, block);
        load_panel(first, a.x, channels, a.rows, a.widths[0], block * chain_block<T>, points);
        load_panel(d, g.out, channels, a.rows, a.widths[layers], block * chain_block<T>, points);
        if (points < chain_block<T>) clear_beyond(d, channels * a.widths[layers], points);
        // Backwards through what the forward pass kept: sums and values of each layer.
        const T* kept = saved + (block + 1) * a.saved_per_block;
        T* layer_sums = sums + a.parameters * width;
        for (int l = layers - 1; l >= 0; --l) {
            const int64_t inner = a.widths[l], outer = a.widths[l + 1];
            const int64_t size = outer * chain_block<T>, inner_size = inner * chain_block<T>;
            if (!(l == layers - 1 && a.program->steps[l].linear())) {
                const T* values = kept - channels * size;
                kept = values - channels * size;
                activation_backward(a.program->program(l), other, kept, values, d, size, size);
                T* swap = d;
                d = other;
                other = swap;
            }
            const T* y = l == 0 ? first : kept - channels * inner_size;
            layer_sums -= outer * width;
            add_bias_gradient(layer_sums, d, outer);
            layer_sums -= outer * inner * width;
            add_weight_gradient(layer_sums, d, y, channels, outer, inner);
            if (l == 0 && !g.x) break;
            for (int c = 0; c < channels; ++c)
                product<T>(other + c * inner_size, {a.weights[l], 1, inner}, nullptr, d + c * size,
                           inner, outer);
            T* swap = d;
            d = other;
            other = swap;
        }
        if (g.x) store_panel(g.x, d, channels, a.rows, a.widths[0], block * chain_block<T>, points);
    }
    for (int64_t i = 0; i < a.parameters; ++i) g.parameters[i] = sum_of_lanes(sums + i * width);
}

}  // namespace

void add_dense_chain(Loops& loops) noexcept {
    loops.float32.chain_forward = forward<float>;
    loops.float32.chain_backward = backward<float>;
    loops.float64.chain_forward = forward<double>;
    loops.float64.chain_backward = backward<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
