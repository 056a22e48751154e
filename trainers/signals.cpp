#include "trainers/signals.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "core/error.h"
#include "core/interruption.h"

namespace ralimp {
namespace {

constexpr int stopping[] = {SIGINT, SIGTERM};
constexpr int ignored[] = {SIGPIPE, SIGXFSZ};

std::atomic<int> received{0};
std::atomic<bool> installed{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch these");

void on_signal(int signal) {
    int none = 0;
    if (received.compare_exchange_strong(none, signal)) return;
    // The second one: the default action, which ends the process when this handler returns.
    const int error = errno;
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    raise(signal);
    errno = error;
}

}  // namespace

StopSignals::StopSignals() {
    check(!installed.exchange(true), "signals: the handlers are installed already");
    received = 0;
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;  // reads and writes under way go on
    int saved = 0;
    for (const int signal : stopping) {
        action.sa_handler = on_signal;
        sigaction(signal, &action, &former_[saved++]);
        // Started in the background by a shell that ignores it (nohup, &): that stays so.
        if (former_[saved - 1].sa_handler == SIG_IGN)
            sigaction(signal, &former_[saved - 1], nullptr);
    }
    for (const int signal : ignored) {
        action.sa_handler = SIG_IGN;
        sigaction(signal, &action, &former_[saved++]);
    }
    install_interruption_check(throw_if_stop_requested);
}

StopSignals::~StopSignals() {
    install_interruption_check(nullptr);
    int saved = 0;
    for (const int signal : stopping) sigaction(signal, &former_[saved++], nullptr);
    for (const int signal : ignored) sigaction(signal, &former_[saved++], nullptr);
    received = 0;
    installed = false;
}

void exit_on_stop_signals() {
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = [](int) { _exit(static_cast<int>(ExitCode::interrupted)); };
    for (const int signal : stopping) {
        struct sigaction former {};
        sigaction(signal, nullptr, &former);
        if (former.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
}

int stop_signal() { return received.load(std::memory_order_relaxed); }

const char* signal_name(int signal) {
    switch (signal) {
        case SIGINT:
            return "SIGINT";
        case SIGTERM:
            return "SIGTERM";
        default:
            return "a signal";
    }
}

}  // namespace ralimp
