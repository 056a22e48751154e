// Denormal numbers, those below 1e-38 (float32) or 2e-308 (float64), cost x86 processors many
// times the time of others, and features like e^(-z²) make them by the thousand.
#pragma once

namespace ralimp {

// From now on this thread, and threads that it starts later, compute with 0 in place of them; to be
// called before any thread is started, as results shall not depend on which thread computes. Where
// the processor has no such mode nothing happens.
void flush_denormals();

}  // namespace ralimp
