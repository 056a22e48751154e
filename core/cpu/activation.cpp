// Fused activations: splits the points among threads; the loops do the rest.
#include "core/activation.h"

#include "core/cpu/dispatch.h"
#include "core/parallel.h"

namespace ralimp::cpu {
namespace {
// Points per task: a multiple of the loops' block, long enough to pay for starting a thread.
constexpr int64_t grain = 8192;
}  // namespace

void activation_forward(const ActivationProgram& program, const Tensor& out, const Tensor& in) {
    const int64_t points = in.elements() / program.channels;
    dispatch_floating("activation", in.dtype(), [&]<class T>(T) {
        T* to = out.data<T>();
        const T* from = in.data<T>();
        parallel_for(points, grain, [&](int64_t begin, int64_t end) {
            loops_of<T>().activation_forward(program, to + begin, from + begin, points,
                                             end - begin);
        });
    });
}

void activation_backward(const ActivationProgram& program, const Tensor& in_gradient,
                         const Tensor& in, const Tensor& out, const Tensor& out_gradient) {
    const int64_t points = in.elements() / program.channels;
    dispatch_floating("activation", in.dtype(), [&]<class T>(T) {
        T* to = in_gradient.data<T>();
        const T *from = in.data<T>(), *value = out.data<T>(), *gradient = out_gradient.data<T>();
        parallel_for(points, grain, [&](int64_t begin, int64_t end) {
            loops_of<T>().activation_backward(program, to + begin, from + begin, value + begin,
                                              gradient + begin, points, end - begin);
        });
    });
}

}  // namespace ralimp::cpu
