// SIGINT and SIGTERM ask a run to save its state and end; a second one ends the program at once.
#pragma once
#include "core/error.h"

namespace ralimp {

// Installs the handlers for its lifetime and puts the former ones back.
class SignalGuard {
public:
    SignalGuard();
    ~SignalGuard();
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;
};

// The number of the signal that arrived since the guard was installed, or 0.
int interrupting_signal();

// What work that can be cut short throws; the training loop catches it and saves.
class Interrupted : public Error {
public:
    Interrupted() : Error("interrupted by a signal", ExitCode::interrupted) {}
};
void throw_if_interrupted();

}  // namespace ralimp
