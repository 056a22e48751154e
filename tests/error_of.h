// What a call throws, for tests of error messages.
#pragma once
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

}  // namespace ralimp
