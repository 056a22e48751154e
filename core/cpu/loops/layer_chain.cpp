// Chains of small layers, block by block. Inside a block every array is a panel (panels.h), so that
// the activation's loops run over features and points alike.
#include "core/cpu/loops/activation_loops.h"
#include "core/cpu/loops/chain_features.h"
#include "core/cpu/loops/panels.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

using Kind = LayerChainProgram::Kind;

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
FeatureStep<T> features_of(const ChainArguments<T>& a, int step) {
    const ChainStep<T>& s = a.steps[step];
    return {a.program,       &a.program->steps[step], s.growth,      s.norm_growth, s.rotation,
            s.norm_rotation, s.norm_weights,          s.projections, s.inputs,      s.products};
}

template <class T>
void forward(const ChainArguments<T>& a, T* out, T* saved, T* scratch, int64_t* clamped,
             int64_t begin, int64_t end, bool keep) {
    const int channels = a.program->composition.channels, steps = a.program->steps_count;
    T* first = scratch;  // the input's panel
    T* last = scratch + a.panel;
    T* z = last + a.panel;
    T* norms = z + a.panel;
    for (int64_t block = begin; block < end; ++block) {
        const int64_t points = points_of(a, block);
        load_panel(first, a.x, channels, a.rows, a.steps[0].inputs, block * chain_block<T>, points);
        const T* y = first;
        T* to = saved + (keep ? block * a.saved_per_block : 0);
        for (int l = 0; l < steps; ++l) {
            const ChainStep<T>& s = a.steps[l];
            const auto& step = a.program->steps[l];
            const int64_t size = s.products * chain_block<T>;
            T* products = step.kind == Kind::linear && l == steps - 1 ? last : to;
            for (int c = 0; c < channels; ++c)
                product<T>(products + c * size, {s.weight, s.inputs, 1}, c == 0 ? s.bias : nullptr,
                           y + c * s.inputs * chain_block<T>, s.products, s.inputs);
            T* values = products + channels * size;
            switch (step.kind) {
                case Kind::linear:
                    values = products;
                    break;
                case Kind::activation:
                    activation_forward(a.program->program(step), values, products, size, size);
                    break;
                case Kind::features:
                    clamped[l] += chain_features_forward(features_of(a, l), values, products, y,
                                                         norms, z, points);
                    break;
            }
            y = values;
            to = values + channels * s.width * chain_block<T>;
        }
        store_panel(out, y, channels, a.rows, a.steps[steps - 1].width, block * chain_block<T>,
                    points);
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
    const int channels = a.program->composition.channels, steps = a.program->steps_count;
    constexpr int width = Pack<T>::width;
    T* first = scratch;
    T* d = scratch + a.panel;
    T* other = d + a.panel;
    T* z = other + a.panel;
    T* dz = z + a.panel;
    T* norms = dz + a.panel;
    T* dnorms = norms + channels * chain_block<T>;
    T* sums = dnorms + channels * chain_block<T>;  // one pack for each parameter
    clear(sums, a.parameters * width);
    const auto exchange = [&] {
        T* before = d;
        d = other;
        other = before;
    };
    for (int64_t block = begin; block < end; ++block) {
        const int64_t points = points_of(a, block);
        load_panel(first, a.x, channels, a.rows, a.steps[0].inputs, block * chain_block<T>, points);
        const int64_t last_width = a.steps[steps - 1].width;
        load_panel(d, g.out, channels, a.rows, last_width, block * chain_block<T>, points);
        if (points < chain_block<T>) clear_beyond(d, channels * last_width, points);
        // Backwards through what the forward pass kept: products and values of each step.
        const T* kept = saved + (block + 1) * a.saved_per_block;
        for (int l = steps - 1; l >= 0; --l) {
            const ChainStep<T>& s = a.steps[l];
            const auto& step = a.program->steps[l];
            const int64_t size = s.products * chain_block<T>, inner = s.inputs * chain_block<T>;
            const bool is_kept = step.kind != Kind::linear || l < steps - 1;
            const T* values = kept - (is_kept ? channels * s.width * chain_block<T> : 0);
            const T* products = step.kind == Kind::linear ? values : values - channels * size;
            kept = products;
            const T* x = l == 0 ? first : kept - channels * inner;
            T* weight_sums = sums + s.first_parameter * width;
            T* bias_sums = weight_sums + s.weights() * width;
            T* growth_sums = bias_sums + s.products * width;
            switch (step.kind) {
                case Kind::linear:
                    break;
                case Kind::activation:
                    activation_backward(a.program->program(step), other, products, values, d, size,
                                        size);
                    exchange();
                    break;
                case Kind::features:
                    chain_features_backward(features_of(a, l), other, dnorms, growth_sums, d,
                                            values, products, x, norms, z, dz);
                    exchange();
                    break;
            }
            if (s.bias) add_bias_gradient(bias_sums, d, s.products);
            if (s.trains_weight)
                add_weight_gradient(weight_sums, d, x, channels, s.products, s.inputs);
            if (l == 0 && !g.x) break;
            for (int c = 0; c < channels; ++c)
                product<T>(other + c * inner, {s.weight, 1, s.inputs}, nullptr, d + c * size,
                           s.inputs, s.products);
            if (s.norm_weights) add_norm_gradient(features_of(a, l), other, dnorms, x);
            exchange();
        }
        if (g.x)
            store_panel(g.x, d, channels, a.rows, a.steps[0].inputs, block * chain_block<T>,
                        points);
    }
    for (int64_t i = 0; i < a.parameters; ++i) g.parameters[i] = sum_of_lanes(sums + i * width);
}

}  // namespace

void add_layer_chain(Loops& loops) noexcept {
    loops.float32.chain_forward = forward<float>;
    loops.float32.chain_backward = backward<float>;
    loops.float64.chain_forward = forward<double>;
    loops.float64.chain_backward = backward<double>;
}

}  // namespace ralimp::cpu::SIMD_LEVEL
