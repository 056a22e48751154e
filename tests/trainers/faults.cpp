#include "tests/trainers/faults.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

namespace ralimp::faults {
namespace {

Action chosen = Action::none;
bool active = false;
int64_t chosen_call = 0;
int64_t calls = 0;
int chosen_error = 0;

// True when the present call has to fail.
bool fault_now() {
    if (!active || calls++ != chosen_call) return false;
    if (chosen == Action::kill) raise(SIGKILL);
    if (chosen != Action::fail) return false;
    errno = chosen_error;
    return true;
}

template <class F>
F* next(const char* name) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void begin(Action action, int64_t at, int error) {
    chosen = action;
    chosen_call = at;
    chosen_error = error;
    calls = 0;
    active = true;
}

int64_t end() {
    active = false;
    return calls;
}

int in_child(void (*f)(void*), void* argument) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        try {
            f(argument);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "in the child: %s\n", error.what());
            _exit(99);
        }
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace ralimp::faults

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
    using namespace ralimp::faults;
    if (fault_now()) return -1;
    static auto* real = next<ssize_t(int, const void*, size_t)>("write");
    return real(descriptor, bytes, active ? std::min<size_t>(count, 512) : count);
}

int fsync(int descriptor) {
    if (ralimp::faults::fault_now()) return -1;
    static auto* real = ralimp::faults::next<int(int)>("fsync");
    return real(descriptor);
}

int close(int descriptor) {
    static auto* real = ralimp::faults::next<int(int)>("close");
    if (ralimp::faults::fault_now()) {
        const int error = errno;
        real(descriptor);
        errno = error;
        return -1;
    }
    return real(descriptor);
}

int rename(const char* from, const char* to) noexcept {
    if (ralimp::faults::fault_now()) return -1;
    static auto* real = ralimp::faults::next<int(const char*, const char*)>("rename");
    return real(from, to);
}
}
