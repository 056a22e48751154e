// SIGINT and SIGTERM as a request to stop that every loop can ask for: training, evaluation,
// rendering, saving. What is done about it is the loops' affair.
#pragma once
#include <csignal>

#include "core/error.h"

namespace ralimp {

// While one lives, the first SIGINT or SIGTERM is remembered; the second one ends the process at
// once; work of other libraries that asks throw_if_interrupted() ends by Interrupted. SIGPIPE and
// SIGXFSZ are ignored, so that a closed pipe or a file limit is an error of the call that met it.
// The former handlers come back at the end. Only one may live at a time.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

private:
    struct sigaction former_[4];
};

// From now on SIGINT and SIGTERM end the process at once, with the exit code interrupted: for work
// that has nothing to save. What the process ignores already stays ignored.
void exit_on_stop_signals();

// The signal that was received, 0 when none was. Cheap; may be asked anywhere, also without a
// StopSignals (then it is 0).
int stop_signal();
inline bool stop_requested() { return stop_signal() != 0; }
// What work that can be cut short (an evaluation, a picture) throws when a stop was requested; the
// training loop catches it and saves.
class Interrupted : public Error {
public:
    Interrupted() : Error("interrupted by a signal", ExitCode::interrupted) {}
};
inline void throw_if_stop_requested() {
    if (stop_requested()) throw Interrupted();
}
// "SIGINT", "SIGTERM"
const char* signal_name(int signal);

}  // namespace ralimp
