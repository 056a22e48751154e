// metrics.csv: rows, resuming, damaged files, a full disk.
#include "trainers/metrics.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/file.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/faults.h"

namespace ralimp {
namespace {

std::string text_of(const std::string& path) {
    const std::vector<uint8_t> bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

template <class F>
std::string error_of(ExitCode code, F&& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
}

class Metrics : public testing::Test {
protected:
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "metrics.csv").string();
};

TEST_F(Metrics, WritesRowsAtOnce) {
    MetricsFile metrics(path, {"loss", "residual", "psnr"});
    EXPECT_EQ(text_of(path), "step,loss,residual,psnr\n");
    metrics.append(10, {{"loss", 0.1}, {"psnr", 30}});
    EXPECT_EQ(text_of(path), "step,loss,residual,psnr\n10,0.1,,30\n");
    const double infinity = std::numeric_limits<double>::infinity();
    metrics.append(20, {{"psnr", -infinity}, {"residual", std::nan("")}, {"loss", 1e-300}});
    EXPECT_EQ(text_of(path), "step,loss,residual,psnr\n10,0.1,,30\n20,1e-300,nan,-inf\n");
    EXPECT_THROW(metrics.append(30, {{"lss", 1}}), Error);
    EXPECT_THROW(MetricsFile(path, {"a,b"}), Error);
}

TEST_F(Metrics, AFreshRunReplacesTheFile) {
    { MetricsFile(path, {"loss"}).append(1, {{"loss", 1}}); }
    MetricsFile metrics(path, {"loss"});
    EXPECT_EQ(text_of(path), "step,loss\n");
}

TEST_F(Metrics, AResumedRunKeepsTheRowsUpToItsStep) {
    const double third = 1.0 / 3;
    {
        MetricsFile metrics(path, {"loss", "psnr"});
        for (const int64_t step : {10, 20, 30, 40}) metrics.append(step, {{"loss", third * step}});
    }
    const std::string before = text_of(path);
    {
        MetricsFile metrics(path, {"loss", "psnr"}, 20);
        EXPECT_EQ(text_of(path), before.substr(0, before.find("30,")));
        metrics.append(30, {{"loss", third * 30}});
        metrics.append(40, {{"loss", third * 40}});
    }
    EXPECT_EQ(text_of(path), before);
    const MetricsTable table = read_metrics(path);
    EXPECT_EQ(table.columns, (std::vector<std::string>{"loss", "psnr"}));
    EXPECT_EQ(table.steps, (std::vector<int64_t>{10, 20, 30, 40}));
    EXPECT_EQ(table.rows[1][0], third * 20);
    EXPECT_FALSE(table.rows[1][1]);
}

TEST_F(Metrics, ARowCutShortByAKillIsDropped) {
    folder.write("metrics.csv", "step,loss\n10,0.5\n20,0.2");
    EXPECT_EQ(read_metrics(path).steps, (std::vector<int64_t>{10}));
    MetricsFile metrics(path, {"loss"}, 20);
    metrics.append(20, {{"loss", 0.25}});
    EXPECT_EQ(text_of(path), "step,loss\n10,0.5\n20,0.25\n");
}

TEST_F(Metrics, ResumingWithoutAFileStartsOne) {
    MetricsFile metrics(path, {"loss"}, 20);
    EXPECT_EQ(text_of(path), "step,loss\n");
}

TEST_F(Metrics, RefusesWhatItCannotContinue) {
    folder.write("metrics.csv", "step,loss\n10,0.5\n");
    EXPECT_EQ(error_of(ExitCode::bad_input,
                       [&] {
                           MetricsFile(path, {"loss", "psnr"}, 20);
                       }),
              path +
                  ": has the columns step,loss, but the resumed run writes step,loss,psnr; move it "
                  "away to go on");
    EXPECT_EQ(text_of(path), "step,loss\n10,0.5\n");
    for (const char* row : {"10", "10,1,2", "x,1", "1.5,1", "10,abc", "10,1x", ",1"}) {
        folder.write("metrics.csv", std::string("step,loss\n10,nan\n") + row + "\n");
        EXPECT_EQ(error_of(ExitCode::bad_input, [&] { read_metrics(path); }),
                  path + ":3: is no row of metrics");
    }
    folder.write("metrics.csv", "loss\n1\n");
    EXPECT_EQ(error_of(ExitCode::bad_input, [&] { read_metrics(path); }),
              path + ":1: does not begin with the column step");
}

TEST_F(Metrics, SaysWhenTheDiskIsFull) {
    MetricsFile metrics(path, {"loss"});
    faults::begin(faults::Action::fail, 0, ENOSPC);
    const std::string message = error_of(ExitCode::io, [&] { metrics.append(1, {{"loss", 1}}); });
    faults::end();
    EXPECT_EQ(message, path + ": cannot be written: No space left on device");
    const std::string nowhere = (folder.path() / "none/metrics.csv").string();
    EXPECT_EQ(error_of(ExitCode::io, [&] { MetricsFile(nowhere, {"loss"}); }),
              nowhere + ": cannot be written: No such file or directory");
}

}  // namespace
}  // namespace ralimp
