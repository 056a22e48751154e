#include "core/denormals.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace ralimp {

void flush_denormals() {
#ifdef __SSE2__
    constexpr unsigned results_to_zero = 0x8000, operands_to_zero = 0x0040;
    _mm_setcsr(_mm_getcsr() | results_to_zero | operands_to_zero);
#endif
}

}  // namespace ralimp
