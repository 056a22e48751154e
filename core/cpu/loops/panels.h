// Products of panels: arrays [channels, features, points of a block], in which whole packs of
// points are multiplied by single weights.
#pragma once
#include "core/cpu/loops/loops.h"
#include "core/cpu/loops/pack_functions.h"

namespace ralimp::cpu::SIMD_LEVEL {

template <class T>
constexpr int64_t panel_packs = chain_block<T> / Pack<T>::width;

// Results held in registers at a time: rows of packs of points.
constexpr int panel_group = 4;
#if defined(__AVX512F__)
constexpr int product_rows = 6, gradient_tile = 4;
#elif defined(__AVX2__)
constexpr int product_rows = 3, gradient_tile = 3;
#else
constexpr int product_rows = 2, gradient_tile = 2;
#endif

// The square of packs, rows and columns exchanged: at step s the blocks of s x s beside its
// diagonal.
template <int step, class T>
inline void exchange_blocks(Pack<T>* packs) {
    constexpr int width = Pack<T>::width;
    using Index = typename RegisterOf<T, pack_bytes>::Mask;
    Index upper, lower;
    for (int lane = 0; lane < width; ++lane) {
        const bool right = lane & step;
        upper[lane] = right ? width + lane - step : lane;
        lower[lane] = right ? width + lane : lane + step;
    }
    for (int i = 0; i < width; ++i) {
        if (i & step) continue;
        const auto a = packs[i].values, b = packs[i + step].values;
        packs[i] = Pack<T>::of(__builtin_shuffle(a, b, upper));
        packs[i + step] = Pack<T>::of(__builtin_shuffle(a, b, lower));
    }
}
template <class T>
inline void transpose_packs(Pack<T>* packs) {
    if constexpr (pack_bytes > 0) {
        exchange_blocks<1>(packs);
        if constexpr (Pack<T>::width > 2) exchange_blocks<2>(packs);
        if constexpr (Pack<T>::width > 4) exchange_blocks<4>(packs);
        if constexpr (Pack<T>::width > 8) exchange_blocks<8>(packs);
    }
}

// in [channels, rows, features] -> panel [channels, features, block]; a last block is filled up
// with its last point, whose values are as good as any other's.
template <class T>
void load_panel(T* panel, const T* in, int channels, int64_t rows, int64_t features, int64_t begin,
                int64_t count) {
    constexpr int width = Pack<T>::width;
    for (int c = 0; c < channels; ++c, panel += features * chain_block<T>) {
        const auto point = [&](int64_t p) {
            return in + (c * rows + begin + (p < count ? p : count - 1)) * features;
        };
        for (int64_t p = 0; p < chain_block<T>; p += width) {
            int64_t f = 0;
            for (; f + width <= features; f += width) {
                Pack<T> packs[width];
                for (int i = 0; i < width; ++i) packs[i] = Pack<T>::load(point(p + i) + f);
                transpose_packs<T>(packs);
                for (int i = 0; i < width; ++i)
                    packs[i].store(panel + (f + i) * chain_block<T> + p);
            }
            for (int i = 0; i < width; ++i)
                for (int64_t g = f; g < features; ++g)
                    panel[g * chain_block<T> + p + i] = point(p + i)[g];
        }
    }
}

template <class T>
void store_panel(T* out, const T* panel, int channels, int64_t rows, int64_t features,
                 int64_t begin, int64_t count) {
    constexpr int width = Pack<T>::width;
    for (int c = 0; c < channels; ++c, panel += features * chain_block<T>)
        for (int64_t p = 0; p < count; p += width) {
            const int64_t points = count - p < width ? count - p : width;
            T* const first = out + (c * rows + begin + p) * features;
            int64_t f = 0;
            for (; f + width <= features; f += width) {
                Pack<T> packs[width];
                for (int i = 0; i < width; ++i)
                    packs[i] = Pack<T>::load(panel + (f + i) * chain_block<T> + p);
                transpose_packs<T>(packs);
                for (int64_t i = 0; i < points; ++i) packs[i].store(first + i * features + f);
            }
            for (int64_t i = 0; i < points; ++i)
                for (int64_t g = f; g < features; ++g)
                    first[i * features + g] = panel[g * chain_block<T> + p + i];
        }
}

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
    for (int64_t begin = 0; begin < panel_packs<T>; begin += panel_group) {
        P sum[rows][panel_group];
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < panel_group; ++j) sum[r][j] = P(bias ? bias[r] : T(0));
        const T* column = in + begin * P::width;
        for (int64_t k = 0; k < inner; ++k, column += chain_block<T>) {
            P x[panel_group];
            for (int j = 0; j < panel_group; ++j) x[j] = P::load(column + j * P::width);
            for (int r = 0; r < rows; ++r) {
                const P weight(w.values[r * w.row + k * w.column]);
                for (int j = 0; j < panel_group; ++j)
                    sum[r][j] = fused_multiply_add(weight, x[j], sum[r][j]);
            }
        }
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < panel_group; ++j)
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

}  // namespace ralimp::cpu::SIMD_LEVEL
