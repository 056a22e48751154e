// Makes the system calls with which files are written fail, or the process die, at a chosen call.
// The test program defines write, fsync, rename and close itself (faults.cpp) and passes them on.
#pragma once
#include <cstdint>

namespace ralimp::faults {

enum class Action { none, kill, fail };

// From now on each write() of more than 512 bytes writes only 512, and the call number `at` (from
// 0, over all four functions) is not made: the process is killed or the call fails with the errno.
void begin(Action action, int64_t at, int error = 0);
// Normal again. Returns how many calls there were.
int64_t end();

// Runs f in a child process. Returns its exit status, or minus the signal that ended it. An
// exception gives 99.
int in_child(void (*f)(void*), void* argument);
template <class F>
int in_child(F f) {
    return in_child([](void* g) { (*static_cast<F*>(g))(); }, &f);
}

}  // namespace ralimp::faults
