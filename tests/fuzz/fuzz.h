// What the fuzz targets share. A target is one file here: it hands arbitrary bytes to one reader,
// which must accept them or throw an Error with the right code and a short message. Everything else
// that it throws, every crash, leak, hang or memory bomb is a finding.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

namespace ralimp::fuzz {

inline std::string_view text_of(const uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Ends the process as a finding.
inline void require(bool condition, const std::string& what) {
    if (condition) return;
    std::fprintf(stderr, "finding: %s\n", what.c_str());
    std::abort();
}

// Whether f accepts its input. A refusal has this code and at most so many lines.
template <class F>
bool accepts(F&& f, ExitCode code, int most_lines = 1) {
    try {
        f();
        return true;
    } catch (const Error& error) {
        const std::string_view message = error.what();
        require(error.code() == code, "another exit code: " + std::string(message));
        require(!message.empty() && std::count(message.begin(), message.end(), '\n') < most_lines,
                "too many lines: " + std::string(message));
        return false;
    }
}

// A file of these bytes, for readers that open a path.
class MemoryFile {
public:
    MemoryFile(const uint8_t* data, std::size_t size) : descriptor_(memfd_create("input", 0)) {
        require(descriptor_ >= 0, "no memory file");
        while (size > 0) {
            const ssize_t written = ::write(descriptor_, data, size);
            require(written > 0, "the memory file cannot be written");
            data += written;
            size -= static_cast<std::size_t>(written);
        }
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

}  // namespace ralimp::fuzz
