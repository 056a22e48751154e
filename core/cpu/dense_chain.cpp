// Chains of dense layers: splits the points into chunks of whole blocks. The gradients of the
// parameters are summed chunk by chunk and then in the order of the chunks.
#include "core/dense_chain.h"

#include <algorithm>
#include <array>

#include "core/cpu/dispatch.h"
#include "core/parallel.h"

namespace ralimp::cpu {
namespace {

// Blocks in a chunk: enough to pay for starting a thread and for adding up its gradients.
constexpr int64_t chunk_blocks = 16;

// The arguments with the tables they point to.
template <class T>
struct Chain : ChainArguments<T> {
    std::array<const T*, DenseChainProgram::max_layers> weight_table, bias_table;
    std::array<int64_t, DenseChainProgram::max_layers + 1> width_table;
    int64_t blocks;

    Chain(const DenseChainProgram& chain, const Tensor& input, std::span<const Tensor> tensors) {
        const int64_t channels = chain.composition.channels, block = chain_block<T>;
        this->program = &chain;
        this->x = input.data<T>();
        this->rows = input.size(1);
        blocks = (this->rows + block - 1) / block;
        width_table[0] = input.size(2);
        int64_t widest = width_table[0];
        this->saved_per_block = this->parameters = 0;
        for (std::size_t l = 0; l < chain.layers; ++l) {
            weight_table[l] = tensors[2 * l].data<T>();
            bias_table[l] = tensors[2 * l + 1].data<T>();
            width_table[l + 1] = tensors[2 * l].size(0);
            widest = std::max(widest, width_table[l + 1]);
            this->parameters += tensors[2 * l].elements() + width_table[l + 1];
            if (l + 1 < chain.layers || !chain.steps[l].linear())
                this->saved_per_block += 2 * channels * width_table[l + 1] * block;
        }
        this->panel = channels * widest * block;
        this->weights = weight_table.data();
        this->biases = bias_table.data();
        this->widths = width_table.data();
    }
    Chain(const Chain&) = delete;
};

}  // namespace

int64_t chain_saved_elements(const DenseChainProgram& program, const Tensor& x,
                             std::span<const Tensor> parameters) {
    return dispatch_floating("dense_chain", x.dtype(), [&]<class T>(T) {
        const Chain<T> chain(program, x, parameters);
        return chain.blocks * chain.saved_per_block;
    });
}

void chain_forward(const DenseChainProgram& program, const Tensor& out, const Tensor& saved,
                   const Tensor& x, std::span<const Tensor> parameters) {
    dispatch_floating("dense_chain", x.dtype(), [&]<class T>(T) {
        const Chain<T> chain(program, x, parameters);
        parallel_for(chain.blocks, chunk_blocks, [&](int64_t begin, int64_t end) {
            const int64_t own = saved.defined() ? 0 : chain.saved_per_block;
            const Tensor scratch = Tensor::empty({2 * chain.panel + own}, x.dtype());
            T* memory = scratch.data<T>();
            loops_of<T>().chain_forward(
                chain, out.data<T>(), saved.defined() ? saved.data<T>() : memory + 2 * chain.panel,
                memory, begin, end, saved.defined());
        });
    });
}

void chain_backward(const DenseChainProgram& program, const ChainGradientTensors& gradients,
                    const Tensor& saved, const Tensor& x, std::span<const Tensor> parameters) {
    dispatch_floating("dense_chain", x.dtype(), [&]<class T>(T) {
        const Chain<T> chain(program, x, parameters);
        const int64_t chunks = (chain.blocks + chunk_blocks - 1) / chunk_blocks;
        const Tensor partial = Tensor::empty({chunks, chain.parameters}, x.dtype());
        parallel_for(chain.blocks, chunk_blocks, [&](int64_t begin, int64_t end) {
            const Tensor scratch =
                Tensor::empty({3 * chain.panel + most_lanes<T> * chain.parameters}, x.dtype());
            ChainGradients<T> pointers;
            pointers.out = gradients.out.data<T>();
            pointers.x = gradients.x.defined() ? gradients.x.data<T>() : nullptr;
            pointers.parameters = partial.data<T>() + begin / chunk_blocks * chain.parameters;
            loops_of<T>().chain_backward(chain, pointers, saved.data<T>(), scratch.data<T>(), begin,
                                         end);
        });
        int64_t next = 0;
        for (std::size_t t = 0; t < parameters.size(); ++t) {
            const int64_t count = parameters[t].elements();
            if (gradients.parameters[t].defined()) {
                T* to = gradients.parameters[t].data<T>();
                for (int64_t i = 0; i < count; ++i) {
                    double total = 0;
                    for (int64_t chunk = 0; chunk < chunks; ++chunk)
                        total += partial.data<T>()[chunk * chain.parameters + next + i];
                    to[i] = static_cast<T>(total);
                }
            }
            next += count;
        }
    });
}

}  // namespace ralimp::cpu
