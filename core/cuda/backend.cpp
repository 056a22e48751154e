// The CUDA backend as the rest of core sees it: its table of kernels and its entry in
// core/backend.h.
#include "core/backend.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "core/cuda/allocator.h"
#include "core/cuda/device.h"
#include "core/cuda/kernels.h"
#include "core/cuda/launch.h"
#include "core/cuda/transfer.h"
#include "core/error.h"

namespace ralimp::gpu {
namespace {

template <std::size_t length>
struct Name {
    char text[length];
    constexpr Name(const char (&characters)[length]) {
        for (std::size_t i = 0; i < length; ++i) text[i] = characters[i];
    }
};

template <Name name, class Signature>
struct Missing;
template <Name name, class Result, class... Args>
struct Missing<name, Result (*)(Args...)> {
    static Result run(Args...) { fail("not on cuda yet: {}", name.text); }
};

std::vector<std::string> missing;

// An entry that has no kernel throws Error and stands in missing_kernels().
template <Name name, class Entry>
void leave_out(Entry& entry) {
    entry = Missing<name, Entry>::run;
    missing.push_back(name.text);
}

Kernels make_kernels() {
    Kernels table{};
    table.unary = unary_kernels();
    table.binary = binary_kernels();
    table.compare = compare_kernels();
    table.where = where;
    table.copy = copy;
    table.fill = fill;
    table.reduce = reduce;
    table.arg_reduce = arg_reduce;
    table.softmax = softmax;
    leave_out<"matmul">(table.matmul);
    table.gather = gather;
    table.scatter_add = scatter_add;
    table.cumulative_sum = cumulative_sum;
    table.cumulative_product = cumulative_product;
    table.argsort = argsort;
    table.searchsorted = searchsorted;
    leave_out<"activation_forward">(table.activation_forward);
    leave_out<"activation_backward">(table.activation_backward);
    leave_out<"features_forward">(table.features_forward);
    leave_out<"features_backward">(table.features_backward);
    leave_out<"count_above">(table.count_above);
    leave_out<"chain_saved_elements">(table.chain_saved_elements);
    leave_out<"chain_forward">(table.chain_forward);
    leave_out<"chain_backward">(table.chain_backward);
    leave_out<"packed_chain">(table.packed_chain);
    table.random_uniform = random_uniform;
    table.random_normal = random_normal;
    leave_out<"flat.sgd">(table.flat.sgd);
    leave_out<"flat.adam">(table.flat.adam);
    leave_out<"flat.dot">(table.flat.dot);
    leave_out<"flat.sum_of_magnitudes">(table.flat.sum_of_magnitudes);
    leave_out<"flat.largest_magnitude">(table.flat.largest_magnitude);
    leave_out<"flat.combine">(table.flat.combine);
    leave_out<"flat.rank_two">(table.flat.rank_two);
    return table;
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string description(Device device) {
    const DeviceProperties& found = properties(device);
    int driver = 0, runtime = 0;
    check_cuda(cudaDriverGetVersion(&driver), "asking for the driver");
    check_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
    return fmt::format("{}, {}, compute capability {}.{}, {:.1f} GiB, CUDA {}, driver for {}",
                       to_string(device), found.name, found.major, found.minor,
                       static_cast<double>(found.memory) / (1 << 30), version_text(runtime),
                       version_text(driver));
}

void synchronize_device(Device device) {
    const CurrentDevice current(device);
    check_cuda(cudaDeviceSynchronize(), "waiting for the device");
}

}  // namespace

const Kernels& kernels() {
    static const Kernels table = make_kernels();
    return table;
}

const std::vector<std::string>& missing_kernels() {
    kernels();
    return missing;
}

const Backend* backend() {
    static const Backend table = {
        .device_count = device_count,
        .kernels = kernels,
        .kernel_launches = launches,
        .description = description,
        .allocate = allocate,
        .deallocate = deallocate,
        .memory_statistics = memory_statistics,
        .release_cached_memory = release_cached_memory,
        .reset_peak_memory = reset_peak_memory,
        .copy_from_host = copy_from_host,
        .copy_to_host = copy_to_host,
        .copy_between = copy_between,
        .synchronize = synchronize_device,
    };
    return &table;
}

}  // namespace ralimp::gpu
