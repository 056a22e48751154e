// The one exception type of the program: what was being done, the rule, the values, what to do.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ralimp {

// Exit codes of the program; documented in the README.
enum class ExitCode {
    success = 0,
    failure = 1,     // anything without a code of its own
    bad_config = 2,  // a config, a command line or a key=value that cannot be used
    bad_input = 3,   // an image, a checkpoint or another file that is missing, damaged or misshaped
    io = 4,          // a folder that cannot be written, a full disk
    non_finite = 5,  // the loss became infinite or NaN; the last good checkpoint is kept
    interrupted = 6,  // SIGINT or SIGTERM; the state was saved
};

class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message, ExitCode code = ExitCode::failure)
        : std::runtime_error(message), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
    throw Error(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_with(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
    throw Error(fmt::format(format, std::forward<Args>(args)...), code);
}

// The message is formatted only when the condition is false.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
    if (!condition) [[unlikely]]
        fail(format, std::forward<Args>(args)...);
}

}  // namespace ralimp
