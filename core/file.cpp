#include "core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace ralimp {
namespace {

class Descriptor {
public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return descriptor_; }
    bool is_open() const { return descriptor_ >= 0; }
    // Some file systems report a failed write only here.
    bool close() {
        const int descriptor = std::exchange(descriptor_, -1);
        return descriptor < 0 || ::close(descriptor) == 0;
    }

private:
    int descriptor_;
};

std::string reason() { return std::strerror(errno); }

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

bool write_all(int descriptor, std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

// Renaming over a device would replace the device.
void refuse_what_is_no_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        fail_with(ExitCode::io, "{}: cannot be written: a {} of this name exists", path,
                  S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
}

// Of this process alone, in the folder of the file.
std::string temporary_name(const std::string& path) {
    static std::atomic<uint64_t> counter{0};
    return fmt::format("{}.partial-{}-{}", path, ::getpid(), counter.fetch_add(1));
}

int create(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

// `path` is what a complaint names.
void try_to_create(const std::string& temporary, const std::string& path) {
    const Descriptor file(create(temporary));
    if (!file.is_open()) fail_with(ExitCode::io, "{}: cannot be written: {}", path, reason());
    ::unlink(temporary.c_str());
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path, int64_t most_bytes) {
    // Not blocking: opening a pipe must not wait for a writer before it is refused.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0)
        fail_with(ExitCode::bad_input, "{}: cannot be read: {}", path, reason());
    if (!S_ISREG(status.st_mode))
        fail_with(ExitCode::bad_input, "{}: is {}, not a file", path,
                  S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe");
    if (status.st_size > most_bytes)
        fail_with(ExitCode::bad_input, "{}: has {} bytes, more than the {} that are accepted", path,
                  int64_t{status.st_size}, most_bytes);
    std::vector<uint8_t> bytes(static_cast<std::size_t>(status.st_size));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_with(ExitCode::bad_input, "{}: cannot be read: {}", path, reason());
        if (got == 0) break;  // it became shorter meanwhile
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

void write_file(const std::string& path, std::span<const uint8_t> bytes) {
    refuse_what_is_no_file(path);
    const std::string temporary = temporary_name(path);
    Descriptor file(create(temporary));
    if (!file.is_open()) fail_with(ExitCode::io, "{}: cannot be written: {}", path, reason());
    const bool done = write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
                      ::rename(temporary.c_str(), path.c_str()) == 0;
    if (!done) {
        const std::string why = reason();
        ::unlink(temporary.c_str());
        fail_with(ExitCode::io, "{}: cannot be written: {}", path, why);
    }
    // The new name survives a power failure only when the folder is flushed too; a file system
    // that cannot do this has nothing to flush.
    Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.is_open()) ::fsync(folder.get());
}

void check_writable(const std::string& path) {
    refuse_what_is_no_file(path);
    try_to_create(temporary_name(path), path);
}

void check_folder_writable(const std::string& folder) {
    try_to_create(temporary_name(folder + "/file"), folder);
}

}  // namespace ralimp
