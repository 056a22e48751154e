// Chains for few rows: the features of a row stand side by side, and products read weights that
// were packed for them once, from beginning to end and without sums over lanes.
#include "core/cpu/loops/activation_loops.h"
#include "core/cpu/loops/pack_functions.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

using Kind = LayerChainProgram::Kind;

// Results held in registers at a time: rows and packs of products.
#if defined(__AVX512F__)
constexpr int tile_rows = 6, tile_packs = 4;
#elif defined(__AVX2__)
constexpr int tile_rows = 6, tile_packs = 2;
#else
constexpr int tile_rows = 2, tile_packs = 4;
#endif

// Without the call that the fused form is at the baseline.
template <class T>
inline Pack<T> multiply_add(Pack<T> a, Pack<T> b, Pack<T> c) {
    if constexpr (pack_bytes == 0)
        return a * b + c;
    else
        return fused_multiply_add(a, b, c);
}

// products[r, first … first + packs width) of `rows` rows.
template <int rows, int packs, class T>
void product_tile(const PackedRows<T>& s, int64_t row, int64_t first) {
    using P = Pack<T>;
    constexpr int64_t lanes = packed_lanes<T>;
    // Few results are sums of several parts, so that an addition need not wait for the one before.
    constexpr int results = rows * packs;
    constexpr int parts = results >= 8 ? 1 : results >= 4 ? 2 : results >= 2 ? 4 : 8;
    const T* x = s.x + row * s.x_stride;
    const T* weights[packs];
    for (int j = 0; j < packs; ++j) {
        const int64_t product = first + j * P::width;
        weights[j] = s.step->packed + product / lanes * lanes * s.step->inputs + product % lanes;
    }
    P sum[parts][rows][packs];
    for (int part = 0; part < parts; ++part)
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < packs; ++j) sum[part][r][j] = P(T(0));
    const auto add = [&](P(&to)[rows][packs], int64_t k) {
        P weight[packs];
        for (int j = 0; j < packs; ++j) weight[j] = P::load(weights[j] + k * lanes);
        for (int r = 0; r < rows; ++r) {
            const P value(x[r * s.x_stride + k]);
            for (int j = 0; j < packs; ++j) to[r][j] = multiply_add(weight[j], value, to[r][j]);
        }
    };
    int64_t k = 0;
    for (; k + parts <= s.step->inputs; k += parts)
        for (int part = 0; part < parts; ++part) add(sum[part], k + part);
    for (; k < s.step->inputs; ++k) add(sum[0], k);
    for (int j = 0; j < packs; ++j) {
        const int64_t product = first + j * P::width;
        P shift(T(0));
        if (s.step->bias) {
            const int64_t left = s.step->products - product;
            shift = load_pack(s.step->bias + product, left < P::width ? left : P::width);
        }
        for (int r = 0; r < rows; ++r) {
            P total = sum[0][r][j];
            for (int part = 1; part < parts; ++part) total = total + sum[part][r][j];
            (total + shift).store(s.products + (row + r) * s.stride + product);
        }
    }
}

// The same for as many rows and packs as are wanted, at most `rows` and `packs`.
template <int rows, int packs, class T>
void tile_of(int64_t wanted_rows, int64_t wanted_packs, const PackedRows<T>& s, int64_t row,
             int64_t first) {
    if constexpr (rows > 1)
        if (wanted_rows < rows)
            return tile_of<rows - 1, packs>(wanted_rows, wanted_packs, s, row, first);
    if constexpr (packs > 1)
        if (wanted_packs < packs)
            return tile_of<rows, packs - 1>(wanted_rows, wanted_packs, s, row, first);
    product_tile<rows, packs>(s, row, first);
}

template <class T>
void products(const PackedRows<T>& s, int64_t begin, int64_t end) {
    constexpr int width = Pack<T>::width;
    begin *= packed_lanes<T>;
    end = end * packed_lanes<T> < s.step->products ? end * packed_lanes<T> : s.step->products;
    const int64_t tiles = (s.rows + tile_rows - 1) / tile_rows;
    for (int64_t first = begin; first < end; first += tile_packs * width) {
        const int64_t packs = (end - first + width - 1) / width;
        for (int64_t tile = 0, row = 0; tile < tiles; ++tile) {
            const int64_t rows = (s.rows - row + tiles - tile - 1) / (tiles - tile);
            tile_of<tile_rows, tile_packs>(rows, packs, s, row, first);
            row += rows;
        }
    }
}

template <class T>
T sum_of_lanes(Pack<T> pack) {
    T lanes[Pack<T>::width];
    pack.store(lanes);
    T sum = lanes[0];
    for (int i = 1; i < Pack<T>::width; ++i) sum += lanes[i];
    return sum;
}

// Σ weight x², or without weights the mean of x².
template <class T>
T norm_of(const T* weights, const T* x, int64_t count) {
    using P = Pack<T>;
    P sum(T(0));
    for_packs<T>(count, [&](int64_t i, auto left) {
        const P value = load_pack<T>(x + i, left);
        sum = multiply_add(weights ? load_pack<T>(weights + i, left) * value : value, value, sum);
    });
    return weights ? sum_of_lanes(sum) : sum_of_lanes(sum) / static_cast<T>(count);
}

// The features of one row, from its products p and its inputs x.
template <class T>
void features(const PackedRows<T>& s, const LayerChainProgram::Step& step, T* values, const T* p,
              const T* x) {
    using P = Pack<T>;
    const ChainStep<T>& c = *s.step;
    T norm(0);
    if (c.norm_growth || c.norm_rotation)
        norm = c.norm_weights ? norm_of(c.norm_weights, x, s.step->inputs)
                              : norm_of<T>(nullptr, p, step.exponential_rows);
    const P n(norm), limit(static_cast<T>(step.exponent_limit));
    const int64_t exponentials = step.exponentials;
    // Each exponent's projection stands where its value will stand.
    for (int64_t i = 0; i < exponentials; ++i) values[i] = p[c.projections[i]];
    for_packs<T>(exponentials, [&](int64_t i, auto left) {
        const P own = load_pack<T>(values + i, left);
        const auto part = [&](const T* factors, const T* norm_factors) {
            P z = norm_factors ? load_pack<T>(norm_factors + i, left) * n : P(T(0));
            return factors ? multiply_add(load_pack<T>(factors + i, left), own, z) : z;
        };
        P re(T(1)), im(T(0));
        if (step.oscillating) {
            const P phase = part(c.rotation, c.norm_rotation);
            re = cos(phase);
            im = sin(phase);
        }
        if (c.growth || c.norm_growth) {
            P z = part(c.growth, c.norm_growth);
            z = select(z > limit, limit, z);
            const P size = exp(z);
            re = size * re;
            im = size * im;
        }
        store_pack<T>(re, values + i, left);
        if (step.oscillating) store_pack<T>(im, values + exponentials + i, left);
    });
    const T* factor = p + step.polynomial_first;
    T* to = values + step.exponential_features();
    for (int k = 1; k <= step.degree; ++k, factor += step.rows, to += step.rows)
        for_packs<T>(step.rows, [&](int64_t i, auto left) {
            P value = load_pack<T>(factor + i, left);
            if (k > 1) value = load_pack<T>(to - step.rows + i, left) * value;
            store_pack<T>(value, to + i, left);
        });
}

template <class T>
void values(const PackedRows<T>& s, const LayerChainProgram& program,
            const LayerChainProgram::Step& step, int64_t begin, int64_t end) {
    if (step.kind == Kind::features) {
        for (int64_t r = begin; r < end; ++r)
            features(s, step, s.values + r * s.stride, s.products + r * s.stride,
                     s.x + r * s.x_stride);
        return;
    }
    const ActivationProgram activation = program.program(step);
    for (int64_t r = begin; r < end; ++r)
        activation_forward(activation, s.values + r * s.stride, s.products + r * s.stride,
                           s.step->products, s.step->products);
}

}  // namespace

void add_packed_chain(Loops& loops) noexcept {
    loops.float32.packed_products = products<float>;
    loops.float32.packed_values = values<float>;
    loops.float64.packed_products = products<double>;
    loops.float64.packed_values = values<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
