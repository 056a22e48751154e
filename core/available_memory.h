// How much memory a process may still take before the operating system ends it.
#pragma once
#include <string>

namespace ralimp {

// Bytes: what /proc/meminfo calls available, with free swap, or what the limits of the process's
// control groups (version 1 or 2) leave, whichever is less. Infinite where neither is told. The
// files of /proc and /sys are looked for below `root`, for tests.
double available_memory(const std::string& root = "");

}  // namespace ralimp
