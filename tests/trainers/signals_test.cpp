// Stop signals: remembered once, deadly twice, undone at the end of the scope.
#include "trainers/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/interruption.h"
#include "tests/trainers/faults.h"

namespace ralimp {
namespace {

TEST(StopSignals, TheFirstOneIsRemembered) {
    for (const int signal : {SIGINT, SIGTERM}) {
        EXPECT_FALSE(stop_requested());
        {
            const StopSignals signals;
            EXPECT_FALSE(stop_requested());
            raise(signal);
            EXPECT_EQ(stop_signal(), signal);
        }
        EXPECT_FALSE(stop_requested());
    }
    EXPECT_STREQ(signal_name(SIGINT), "SIGINT");
    EXPECT_STREQ(signal_name(SIGTERM), "SIGTERM");
}

TEST(StopSignals, TheSecondOneEndsTheProcess) {
    for (const int first : {SIGINT, SIGTERM})
        for (const int second : {SIGINT, SIGTERM})
            EXPECT_EQ(faults::in_child([&] {
                          const StopSignals signals;
                          raise(first);
                          if (!stop_requested()) _exit(1);
                          raise(second);
                      }),
                      -second);
}

TEST(StopSignals, FormerHandlersComeBack) {
    EXPECT_EQ(faults::in_child([] {
                  { const StopSignals signals; }
                  raise(SIGTERM);
              }),
              -SIGTERM);
    EXPECT_EQ(faults::in_child([] {
                  signal(SIGINT, SIG_IGN);  // as nohup does
                  const StopSignals signals;
                  raise(SIGINT);
                  _exit(stop_requested() ? 1 : 42);
              }),
              42);
}

TEST(StopSignals, AClosedPipeIsAnError) {
    EXPECT_EQ(faults::in_child([] {
                  const StopSignals signals;
                  int ends[2];
                  if (pipe(ends) != 0) _exit(1);
                  close(ends[0]);
                  _exit(write(ends[1], "x", 1) == -1 && errno == EPIPE ? 42 : 2);
              }),
              42);
}

TEST(StopSignals, WorkThatAsksEndsByTheFirstOne) {
    {
        const StopSignals signals;
        EXPECT_NO_THROW(throw_if_interrupted());
        raise(SIGTERM);
        EXPECT_THROW(throw_if_interrupted(), Interrupted);
    }
    EXPECT_NO_THROW(throw_if_interrupted());
}

TEST(StopSignals, OnlyOneAtATime) {
    const StopSignals signals;
    EXPECT_THROW(StopSignals(), Error);
    raise(SIGINT);  // the failed attempt has changed nothing
    EXPECT_EQ(stop_signal(), SIGINT);
}

}  // namespace
}  // namespace ralimp
