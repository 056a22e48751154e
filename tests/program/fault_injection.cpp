// Preloaded into the program by the scripts beside it: counts the calls that change files and, from
// call number FAULT_AT (from 0) on, lets them go wrong. Only calls on paths that hold FAULT_IN
// count.
//   FAULT=kill   half of what is to be written is written, then the process is killed
//   FAULT=full   the disk is full: no write to a file succeeds any more
//   FAULT=stop   SIGTERM is sent before that one call; nothing fails
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

std::string setting(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

template <class F>
F* next(const char* name) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

bool kills() {
    static const bool value = setting("FAULT") == "kill";
    return value;
}
bool stops() {
    static const bool value = setting("FAULT") == "stop";
    return value;
}

// Whether the present call has to go wrong.
bool fault_at(std::string_view path) {
    static const long at = std::atol(setting("FAULT_AT").c_str());
    static const std::string in = setting("FAULT_IN");
    static std::atomic<long> calls{0};
    if (path.find(in) == std::string_view::npos) return false;
    const long call = calls++;
    if (stops() && call == at) raise(SIGTERM);
    return !stops() && call >= at;
}

std::string path_of(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return "";
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = readlink(link.c_str(), path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

// For calls that a full disk does not hinder.
void maybe_kill(std::string_view path) {
    if ((kills() || stops()) && !path.empty() && fault_at(path)) raise(SIGKILL);
}

// True when the write must fail. A kill comes after half of it.
template <class Half>
bool write_fails(int descriptor, Half half) {
    const std::string path = path_of(descriptor);
    if (path.empty() || !fault_at(path)) return false;
    if (kills()) {
        half();
        raise(SIGKILL);
    }
    errno = ENOSPC;
    return true;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
    static auto* real = next<ssize_t(int, const void*, size_t)>("write");
    if (write_fails(descriptor, [&] { real(descriptor, bytes, count / 2); })) return -1;
    return real(descriptor, bytes, count);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
    static auto* real = next<ssize_t(int, const iovec*, int)>("writev");
    if (write_fails(descriptor, [&] { real(descriptor, parts, count / 2); })) return -1;
    return real(descriptor, parts, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
    static auto* real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    if (write_fails(descriptor, [&] { real(descriptor, bytes, count / 2, offset); })) return -1;
    return real(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
    maybe_kill(path_of(descriptor));
    static auto* real = next<int(int)>("fsync");
    return real(descriptor);
}

int ftruncate(int descriptor, off_t length) noexcept {
    maybe_kill(path_of(descriptor));
    static auto* real = next<int(int, off_t)>("ftruncate");
    return real(descriptor, length);
}

int rename(const char* from, const char* to) noexcept {
    maybe_kill(to);
    static auto* real = next<int(const char*, const char*)>("rename");
    return real(from, to);
}

int remove(const char* path) noexcept {
    maybe_kill(path);
    static auto* real = next<int(const char*)>("remove");
    return real(path);
}

int unlink(const char* path) noexcept {
    maybe_kill(path);
    static auto* real = next<int(const char*)>("unlink");
    return real(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
    maybe_kill(path);
    static auto* real = next<int(const char*, mode_t)>("mkdir");
    return real(path, mode);
}
}
