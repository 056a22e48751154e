// What a call throws, for tests of error messages; and a folder that vanishes after the test.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "core/error.h"

namespace ralimp {

struct Thrown {
    ExitCode code = ExitCode::success;
    std::string text;  // empty when nothing was thrown
};

template <class F>
Thrown error_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return {error.code(), error.what()};
    }
    return {};
}

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "ralimp-test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
        folder_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
    std::string path() const { return folder_.string(); }
    // How many files and folders it holds.
    int64_t entries() const {
        return std::distance(std::filesystem::directory_iterator(folder_),
                             std::filesystem::directory_iterator());
    }

private:
    std::filesystem::path folder_;
};

}  // namespace ralimp
