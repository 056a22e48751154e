// Chains of layers: splits the points into chunks of whole blocks. The gradients of the parameters
// are summed chunk by chunk and then in the order of the chunks.
#include "core/layer_chain.h"

#include <algorithm>
#include <array>

#include "core/cpu/dispatch.h"
#include "core/parallel.h"

namespace ralimp::cpu {
namespace {

// Blocks in a chunk: enough to pay for starting a thread and, backwards, for adding up gradients.
constexpr int64_t chunk_blocks = 16;
// Multiplications for one point of each block, in a chunk of a forward pass.
constexpr int64_t chunk_work = 200'000;
// Of a packed chain: rows that go through it together; multiplications and values that are worth a
// thread; blocks of products that are computed together.
constexpr int64_t packed_rows = 64, packed_work = 1 << 18, packed_values = 4096, packed_group = 4;

template <class T>
const T* values_or_null(const Tensor& tensor) {
    return tensor.defined() ? tensor.data<T>() : nullptr;
}

// The arguments with the table they point to.
template <class T>
struct Chain : ChainArguments<T> {
    std::array<ChainStep<T>, LayerChainProgram::max_steps> table;
    int64_t blocks;
    int64_t norms;  // elements of one feature's channels in a block
    int64_t work;   // multiplications of a point

    // `wanted`: the gradients of a backward pass; empty in a forward pass.
    Chain(const LayerChainProgram& chain, const Tensor& input,
          std::span<const ChainTensors> tensors, std::span<const ChainTensors> wanted = {}) {
        const int64_t channels = chain.composition.channels, block = chain_block<T>;
        this->program = &chain;
        this->x = input.data<T>();
        this->rows = input.size(-2);
        this->steps = table.data();
        this->saved_per_block = this->parameters = 0;
        blocks = (this->rows + block - 1) / block;
        norms = channels * block;
        work = 1;
        int64_t width = input.size(-1), widest = width;
        for (std::size_t l = 0; l < chain.steps_count; ++l) {
            const ChainTensors& from = tensors[l];
            const auto& step = chain.steps[l];
            ChainStep<T>& to = table[l];
            to = {from.weight.data<T>(),
                  values_or_null<T>(from.packed),
                  values_or_null<T>(from.bias),
                  values_or_null<T>(from.growth),
                  values_or_null<T>(from.norm_growth),
                  values_or_null<T>(from.rotation),
                  values_or_null<T>(from.norm_rotation),
                  values_or_null<T>(from.norm_weights),
                  values_or_null<int32_t>(from.projections),
                  width,
                  from.weight.size(0),
                  step.width(from.weight.size(0)),
                  this->parameters,
                  !wanted.empty() && wanted[l].weight.defined()};
            this->parameters += to.weights() + to.products + 2 * step.exponential_features();
            if (step.kind != LayerChainProgram::Kind::linear)
                this->saved_per_block += norms * (to.products + to.width);
            else if (l + 1 < chain.steps_count)
                this->saved_per_block += norms * to.products;
            work += channels * to.products * to.inputs;
            width = to.width;
            widest = std::max({widest, to.products, width});
        }
        this->panel = norms * widest;
    }
    Chain(const Chain&) = delete;
};

// out = the sums over the chunks of `count` parameters from `first` on, if it is wanted.
template <class T>
void add_chunks(const Tensor& out, const Tensor& partial, int64_t first) {
    if (!out.defined()) return;
    const int64_t chunks = partial.size(0), parameters = partial.size(1);
    for (int64_t i = 0; i < out.elements(); ++i) {
        double total = 0;
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
            total += partial.data<T>()[chunk * parameters + first + i];
        out.data<T>()[i] = static_cast<T>(total);
    }
}

}  // namespace

int64_t chain_saved_elements(const LayerChainProgram& program, const Tensor& x,
                             std::span<const ChainTensors> steps) {
    return dispatch_floating("layer_chain", x.dtype(), [&]<class T>(T) {
        const Chain<T> chain(program, x, steps);
        return chain.blocks * chain.saved_per_block;
    });
}

void chain_forward(const LayerChainProgram& program, const Tensor& out, const Tensor& saved,
                   const Tensor& x, std::span<const ChainTensors> steps) {
    dispatch_floating("layer_chain", x.dtype(), [&]<class T>(T) {
        const Chain<T> chain(program, x, steps);
        // Nothing is summed over blocks: wide layers may have smaller chunks.
        const int64_t chunk = std::clamp<int64_t>(chunk_work / chain.work, 1, chunk_blocks);
        parallel_for(chain.blocks, chunk, [&](int64_t begin, int64_t end) {
            const int64_t own = saved.defined() ? 0 : chain.saved_per_block;
            const Tensor scratch = Tensor::empty({3 * chain.panel + chain.norms + own}, x.dtype());
            T* memory = scratch.data<T>();
            std::array<int64_t, LayerChainProgram::max_steps> clamped{};
            loops_of<T>().chain_forward(
                chain, out.data<T>(),
                saved.defined() ? saved.data<T>() : memory + scratch.elements() - own, memory,
                clamped.data(), begin, end, saved.defined());
            const int64_t points =
                std::min(end * chain_block<T>, chain.rows) - begin * chain_block<T>;
            for (std::size_t l = 0; l < program.steps_count; ++l)
                if (steps[l].clamps.defined())
                    add_clamp_counts(steps[l].clamps,
                                     clamped[l] * program.steps[l].features_of_exponent(),
                                     points * program.steps[l].exponential_features());
        });
    });
}

void packed_chain(const LayerChainProgram& program, const Tensor& out, const Tensor& x,
                  std::span<const ChainTensors> steps) {
    dispatch_floating("packed_chain", x.dtype(), [&]<class T>(T) {
        constexpr int64_t lanes = packed_lanes<T>;
        const Chain<T> chain(program, x, steps);
        const int64_t widest = chain.panel / chain.norms;
        PackedRows<T> part;
        part.stride = (widest + lanes - 1) / lanes * lanes;
        const int64_t most = std::min(chain.rows, packed_rows);
        const Tensor scratch = Tensor::empty({3, most, part.stride}, x.dtype());
        const int64_t outputs = chain.steps[program.steps_count - 1].width;
        for (int64_t first = 0; first < chain.rows; first += most) {
            part.rows = std::min(most, chain.rows - first);
            part.x = chain.x + first * chain.steps[0].inputs;
            part.x_stride = chain.steps[0].inputs;
            // Each step writes into the two arrays that do not hold its input.
            T* free[] = {scratch.data<T>(), scratch.data<T>() + most * part.stride,
                         scratch.data<T>() + 2 * most * part.stride};
            for (std::size_t l = 0; l < program.steps_count; ++l) {
                const LayerChainProgram::Step& step = program.steps[l];
                part.step = &chain.steps[l];
                part.products = free[0];
                part.values = free[1];
                const int64_t work = std::max<int64_t>(1, part.rows * part.step->inputs * lanes);
                const int64_t grain = std::max<int64_t>(packed_group, packed_work / work);
                parallel_for((part.step->products + lanes - 1) / lanes,
                             (grain + packed_group - 1) / packed_group * packed_group,
                             [&](int64_t begin, int64_t end) {
                                 loops_of<T>().packed_products(part, begin, end);
                             });
                const bool linear = step.kind == LayerChainProgram::Kind::linear;
                if (!linear)
                    parallel_for(part.rows,
                                 std::max<int64_t>(
                                     1, packed_values / std::max<int64_t>(1, part.step->width)),
                                 [&](int64_t begin, int64_t end) {
                                     loops_of<T>().packed_values(part, program, step, begin, end);
                                 });
                T*& y = free[linear ? 0 : 1];
                part.x = y;
                part.x_stride = part.stride;
                std::swap(y, free[2]);
            }
            for (int64_t r = 0; r < part.rows; ++r)
                std::copy_n(part.x + r * part.x_stride, outputs,
                            out.data<T>() + (first + r) * outputs);
        }
    });
}

void chain_backward(const LayerChainProgram& program, const ChainGradientTensors& gradients,
                    const Tensor& saved, const Tensor& x, std::span<const ChainTensors> steps) {
    dispatch_floating("layer_chain", x.dtype(), [&]<class T>(T) {
        const Chain<T> chain(program, x, steps, gradients.steps);
        const int64_t chunks = (chain.blocks + chunk_blocks - 1) / chunk_blocks;
        const Tensor partial = Tensor::empty({chunks, chain.parameters}, x.dtype());
        parallel_for(chain.blocks, chunk_blocks, [&](int64_t begin, int64_t end) {
            const Tensor scratch = Tensor::empty(
                {5 * chain.panel + 2 * chain.norms + most_lanes<T> * chain.parameters}, x.dtype());
            ChainGradients<T> pointers;
            pointers.out = gradients.out.data<T>();
            pointers.x = gradients.x.defined() ? gradients.x.data<T>() : nullptr;
            pointers.parameters = partial.data<T>() + begin / chunk_blocks * chain.parameters;
            loops_of<T>().chain_backward(chain, pointers, saved.data<T>(), scratch.data<T>(), begin,
                                         end);
        });
        for (std::size_t l = 0; l < program.steps_count; ++l) {
            const ChainStep<T>& step = chain.steps[l];
            const ChainTensors& wanted = gradients.steps[l];
            const int64_t exponentials = program.steps[l].exponentials;
            int64_t first = step.first_parameter;
            add_chunks<T>(wanted.weight, partial, first);
            add_chunks<T>(wanted.bias, partial, first += step.weights());
            add_chunks<T>(wanted.growth, partial, first += step.products);
            add_chunks<T>(wanted.norm_growth, partial, first += exponentials);
            add_chunks<T>(wanted.rotation, partial, first += exponentials);
            add_chunks<T>(wanted.norm_rotation, partial, first += exponentials);
        }
    });
}

}  // namespace ralimp::cpu
