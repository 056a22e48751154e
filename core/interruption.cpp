#include "core/interruption.h"

#include <atomic>

namespace ralimp {
namespace {

std::atomic<InterruptionCheck> installed{nullptr};

}  // namespace

void install_interruption_check(InterruptionCheck check) { installed = check; }

void throw_if_interrupted() {
    if (const InterruptionCheck check = installed.load(std::memory_order_relaxed)) check();
}

}  // namespace ralimp
