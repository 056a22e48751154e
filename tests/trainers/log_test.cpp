// The log and its progress: what goes to a terminal, to a pipe and to the file.
#include "trainers/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <limits>

#include "core/error.h"
#include "core/file.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/faults.h"

namespace ralimp {
namespace {

class Pipe {
public:
    Pipe() { EXPECT_EQ(pipe(ends_), 0); }
    ~Pipe() {
        close(ends_[0]);
        close_writer();
    }
    int writer() const { return ends_[1]; }
    void close_writer() {
        if (ends_[1] >= 0) close(ends_[1]);
        ends_[1] = -1;
    }
    void close_reader() {
        close(ends_[0]);
        ends_[0] = -1;
    }
    // Everything written; closes the writing end.
    std::string text() {
        close_writer();
        std::string all;
        char buffer[4096];
        for (ssize_t got; (got = read(ends_[0], buffer, sizeof buffer)) > 0;)
            all.append(buffer, static_cast<std::size_t>(got));
        return all;
    }

private:
    int ends_[2] = {-1, -1};
};

std::string text_of(const std::filesystem::path& path) {
    const std::vector<uint8_t> bytes = read_file(path.string());
    return {bytes.begin(), bytes.end()};
}

Progress at_step(int64_t step) {
    Progress progress;
    progress.step = step;
    progress.total_steps = 200;
    progress.loss = 0.5;
    progress.learning_rate = 1e-3;
    return progress;
}

TEST(LogFormat, NumbersAreShortAndNeverBreak) {
    EXPECT_EQ(format_number(0), "0");
    EXPECT_EQ(format_number(1e-3), "0.001");
    EXPECT_EQ(format_number(3.21449e-7), "3.214e-07");
    EXPECT_EQ(format_number(123456), "1.235e+05");
    EXPECT_EQ(format_number(std::nan("")), "nan");
    EXPECT_EQ(format_number(-std::nan("")), "nan");
    EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(LogFormat, ProgressShowsTermsSpeedAndRemainingTime) {
    Progress progress = at_step(120);
    EXPECT_EQ(format_progress(progress), "step 120/200  loss 0.5  lr 0.001  eta ?");
    progress.terms = {{"residual", 0.4}, {"boundary", std::nan("")}};
    progress.steps_per_second = 512.25;
    progress.seconds_left = 3725;
    EXPECT_EQ(format_progress(progress),
              "step 120/200  loss 0.5 (residual 0.4, boundary nan)  lr 0.001  512.2 steps/s  eta "
              "1h02m");
}

TEST(LogFormat, Durations) {
    EXPECT_EQ(format_duration(0.2), "0s");
    EXPECT_EQ(format_duration(59.4), "59s");
    EXPECT_EQ(format_duration(59.6), "1m00s");
    EXPECT_EQ(format_duration(3599.7), "1h00m");
    EXPECT_EQ(format_duration(90000), "1d01h");
    for (const double strange : {-1.0, 1e300, std::nan(""), HUGE_VAL})
        EXPECT_EQ(format_duration(strange), "?");
    EXPECT_EQ(format_duration({}), "?");
}

TEST(Pace, MeasuresTheLastTenSeconds) {
    double now = 100;
    Pace pace(50, 1050, [&] { return now; });
    EXPECT_FALSE(pace.steps_per_second());
    EXPECT_FALSE(pace.seconds_left());
    for (int64_t step = 51; step <= 150; ++step) {  // 10 steps/s for 10 s
        now += 0.1;
        pace.reached(step);
    }
    EXPECT_NEAR(*pace.steps_per_second(), 10, 1e-9);
    EXPECT_NEAR(*pace.seconds_left(), 90, 1e-9);
    EXPECT_NEAR(pace.seconds(), 10, 1e-9);
    for (int64_t step = 151; step <= 950; ++step) {  // 40 steps/s for 20 s
        now += 0.025;
        pace.reached(step);
    }
    EXPECT_NEAR(*pace.steps_per_second(), 40, 0.5);
    EXPECT_NEAR(*pace.seconds_left(), 2.5, 0.1);
    pace.reached(1050);
    EXPECT_EQ(pace.seconds_left(), 0);
}

TEST(Pace, StepsWithoutMeasurableTime) {
    Pace pace(0, 10, [] { return 1.0; });
    pace.reached(1);
    pace.reached(2);
    EXPECT_FALSE(pace.steps_per_second());
    EXPECT_FALSE(pace.seconds_left());
}

// A full disk under the terminal's output is told at the end; a reader that went away is not.
TEST(Log, RemembersThatItsOutputCouldNotBeWritten) {
    const int full = open("/dev/full", O_WRONLY);
    ASSERT_GE(full, 0);
    Log log({full, false, 80});
    EXPECT_EQ(log.output_error(), 0);
    log.progress(at_step(1), true);
    EXPECT_EQ(log.output_error(), ENOSPC);
    close(full);
    signal(SIGPIPE, SIG_IGN);
    Pipe pipe;
    pipe.close_reader();
    Log piped({pipe.writer(), false, 80});
    piped.line("nobody reads this");
    EXPECT_EQ(piped.output_error(), 0);
    signal(SIGPIPE, SIG_DFL);
}

TEST(Log, APipeGetsPlainLines) {
    const TemporaryFolder folder;
    Pipe pipe;
    {
        Log log({pipe.writer(), false, 80});
        log.line("{} threads", 2);  // before there is a folder
        log.open_file((folder.path() / "log.txt").string());
        log.progress(at_step(1), false);
        log.progress(at_step(100), true);
        log.warning("{} is damaged", "a.h5");
    }
    const std::string expected =
        "2 threads\nstep 100/200  loss 0.5  lr 0.001  eta ?\n"
        "warning: a.h5 is damaged\n";
    EXPECT_EQ(pipe.text(), expected);
    EXPECT_EQ(text_of(folder.path() / "log.txt"), expected);
}

TEST(Log, ATerminalGetsABarAndTheFilePlainLines) {
    const TemporaryFolder folder;
    Pipe pipe;
    double now = 0;
    {
        Log log({pipe.writer(), true, 60}, [&] { return now; });
        log.open_file((folder.path() / "log.txt").string());
        log.progress(at_step(1), false);
        now = 0.05;
        log.progress(at_step(2), true);  // too early for another bar
        now = 0.11;
        log.progress(at_step(100), false);
        log.line("saved");
        log.progress(at_step(150), false);
    }
    const std::string bar = "\r\x1b[K";
    EXPECT_EQ(pipe.text(), bar + "[....................]   0%  step 1/200  loss 0.5  lr 0.001" +
                               bar + "[##########..........]  50%  step 100/200  loss 0.5  lr 0.0" +
                               bar + "saved\n" + bar +
                               "[###############.....]  75%  step 150/200  loss 0.5  lr 0.0" + bar);
    EXPECT_EQ(text_of(folder.path() / "log.txt"), "step 2/200  loss 0.5  lr 0.001  eta ?\nsaved\n");
}

// Speed and the time left are worth more than terms that a narrow terminal cuts off.
TEST(Log, ANarrowTerminalGetsABarWithoutTerms) {
    Progress progress = at_step(100);
    progress.terms = {{"residual", 0.4}, {"boundary", 0.1}};
    progress.steps_per_second = 512.25;
    const std::string start = "\r\x1b[K[##########..........]  50%  step 100/200  loss 0.5  ";
    for (const auto& [columns, expected] :
         {std::pair{100, start + "lr 0.001  512.2 steps/s  eta ?\r\x1b[K"},
          {140, "(residual 0.4, boundary 0.1)  lr 0.001  512.2 steps/s  eta ?\r\x1b[K"}}) {
        Pipe pipe;
        {
            Log log({pipe.writer(), true, columns});
            log.progress(progress, false);
        }
        EXPECT_TRUE(pipe.text().ends_with(expected)) << pipe.text();
    }
}

TEST(Log, AResumedRunGoesOnInItsFile) {
    const TemporaryFolder folder;
    const std::string path = folder.write("log.txt", "before\n").string();
    Log log({-1, false, 80});
    log.open_file(path);
    log.line("after");
    EXPECT_EQ(text_of(path), "before\nafter\n");
}

TEST(Log, GoesOnWithoutAReader) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "log.txt").string();
    const int status = faults::in_child([&] {
        signal(SIGPIPE, SIG_IGN);
        Pipe pipe;
        pipe.close_reader();
        Log log({pipe.writer(), false, 80});
        log.open_file(path);
        log.line("still here");
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text_of(path), "still here\n");
}

TEST(Log, SaysWhenItsFileCannotBeWritten) {
    const TemporaryFolder folder;
    Log log({-1, false, 80});
    try {
        log.open_file((folder.path() / "none/log.txt").string());
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::io);
        EXPECT_EQ(std::string(error.what()), (folder.path() / "none/log.txt").string() +
                                                 ": cannot be written: No such file or directory");
    }
    log.open_file((folder.path() / "log.txt").string());
    faults::begin(faults::Action::fail, 0, ENOSPC);
    EXPECT_THROW(log.line("too much"), Error);
    faults::end();
}

}  // namespace
}  // namespace ralimp
