#include "trainers/signals.h"

#include <csignal>

namespace ralimp {
namespace {

volatile std::sig_atomic_t arrived = 0;
struct sigaction former_interrupt, former_terminate;

// Only what is allowed in a handler: the second signal has the default action, which ends the
// program.
void note(int signal) {
    arrived = signal;
    std::signal(signal, SIG_DFL);
}

}  // namespace

SignalGuard::SignalGuard() {
    arrived = 0;
    struct sigaction action {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;  // a write that is under way is finished
    sigaction(SIGINT, &action, &former_interrupt);
    sigaction(SIGTERM, &action, &former_terminate);
}

SignalGuard::~SignalGuard() {
    sigaction(SIGINT, &former_interrupt, nullptr);
    sigaction(SIGTERM, &former_terminate, nullptr);
}

int interrupting_signal() { return arrived; }

void throw_if_interrupted() {
    if (arrived) throw Interrupted();
}

}  // namespace ralimp
