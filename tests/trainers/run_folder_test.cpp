// The folder of a run: naming, refusing to overwrite, one writer at a time.
#include "trainers/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "core/file.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/faults.h"
#include "trainers/result.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

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

TEST(RunFolder, NumbersFollowTheHighest) {
    const TemporaryFolder folder;
    const fs::path runs = folder.path() / "runs";
    EXPECT_EQ(RunFolder::create_numbered(runs, "burgers").path(), runs / "burgers-1");
    EXPECT_EQ(RunFolder::create_numbered(runs, "burgers").path(), runs / "burgers-2");
    fs::create_directory(runs / "burgers-9");
    fs::create_directory(runs / "burgers-x");
    fs::create_directory(runs / "burgers-12b");
    EXPECT_EQ(RunFolder::create_numbered(runs, "burgers").path(), runs / "burgers-10");
    EXPECT_EQ(RunFolder::create_numbered(runs, "burg").path(), runs / "burg-1");
    EXPECT_TRUE(fs::is_directory(runs / "burg-1/checkpoints"));
    EXPECT_TRUE(fs::is_directory(runs / "burg-1/pictures"));
}

TEST(RunFolder, NeverWritesIntoWhatIsThere) {
    const TemporaryFolder folder;
    {
        const RunFolder run = RunFolder::create(folder.path() / "a/b");
        run.write_config("seed: 1\n");
        EXPECT_TRUE(RunFolder::holds_run(run.path()));
    }
    EXPECT_EQ(error_of(ExitCode::bad_config, [&] { RunFolder::create(folder.path() / "a/b"); }),
              (folder.path() / "a/b").string() +
                  ": holds a run already; choose another folder, or resume the run");
    folder.write("c/notes.txt", "mine");
    EXPECT_EQ(error_of(ExitCode::bad_config, [&] { RunFolder::create(folder.path() / "c"); }),
              (folder.path() / "c").string() + ": is not empty; choose another folder for the run");
    EXPECT_FALSE(fs::exists(folder.path() / "c/checkpoints"));
    fs::create_directory(folder.path() / "empty");
    RunFolder::create(folder.path() / "empty");
}

TEST(RunFolder, TakesWhatARunKilledAtItsStartHasLeft) {
    const TemporaryFolder folder;
    const fs::path run = folder.path() / "run";
    { const RunFolder killed = RunFolder::create(run); }
    folder.write("run/config.yaml.partial-12-0", "seed");
    { const RunFolder again = RunFolder::create(run); }
    folder.write("run/checkpoints/step-00000001.h5", "x");
    error_of(ExitCode::bad_config, [&] { RunFolder::create(run); });
}

TEST(RunFolder, OpensOnlyRuns) {
    const TemporaryFolder folder;
    EXPECT_NE(error_of(ExitCode::bad_input, [&] { RunFolder::open(folder.path() / "none"); })
                  .find("does not exist"),
              std::string::npos);
    EXPECT_NE(error_of(ExitCode::bad_input, [&] { RunFolder::open(folder.path()); })
                  .find("is not the folder of a run (it has no config.yaml)"),
              std::string::npos);
    folder.write("config.yaml", "seed: 1\n");
    EXPECT_EQ(RunFolder::open(folder.path()).path(), folder.path());
}

TEST(RunFolder, OneWriterAtATime) {
    const TemporaryFolder folder;
    auto first = std::make_unique<RunFolder>(RunFolder::create(folder.path() / "run"));
    first->write_config("seed: 1\n");
    RunFolder second = RunFolder::open(folder.path() / "run");
    EXPECT_EQ(error_of(ExitCode::io, [&] { second.lock(); }),
              (folder.path() / "run").string() + ": another process is writing this run");
    first.reset();
    second.lock();
    second.lock();
    EXPECT_EQ(faults::in_child([&] {
                  try {
                      RunFolder::open(folder.path() / "run").lock();
                  } catch (const Error&) {
                      _exit(42);
                  }
              }),
              42);
}

TEST(RunFolder, FinishedUnlessInterrupted) {
    const TemporaryFolder folder;
    folder.write("config.yaml", "seed: 1\n");
    const RunFolder run = RunFolder::open(folder.path());
    EXPECT_FALSE(run.finished());
    for (const char* unfinished : {"interrupted", "non-finite loss", "error"}) {
        write_result(run.result().string(), {{"stopped_by", std::string(unfinished)}});
        EXPECT_FALSE(run.finished()) << unfinished;
    }
    write_result(run.result().string(), {{"stopped_by", int64_t{5}}});
    EXPECT_FALSE(run.finished());
    write_result(run.result().string(), {{"stopped_by", std::string("max_steps")}});
    EXPECT_TRUE(run.finished());
    folder.write("result.json", "{");
    EXPECT_NE(error_of(ExitCode::bad_input, [&] { run.finished(); }).find("is not a JSON object"),
              std::string::npos);
}

TEST(RunFolder, SaysWhenItCannotBeMade) {
    const TemporaryFolder folder;
    folder.write("file", "x");
    EXPECT_EQ(error_of(ExitCode::io, [&] { RunFolder::create(folder.path() / "file/run"); }),
              (folder.path() / "file/run").string() + ": cannot be made: Not a directory");
    EXPECT_EQ(error_of(ExitCode::io, [&] { RunFolder::create(folder.path() / "file"); }),
              (folder.path() / "file").string() + ": cannot be made: Not a directory");
    fs::create_directory(folder.path() / "read_only");
    fs::permissions(folder.path() / "read_only", fs::perms{0555});
    fs::permissions(folder.path(), fs::perms::all);
    EXPECT_EQ(faults::in_child([&] {
                  if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
                  try {
                      RunFolder::create_numbered(folder.path() / "read_only", "run");
                  } catch (const Error& error) {
                      _exit(std::string(error.what()).find("cannot be made: Permission denied") !=
                                        std::string::npos &&
                                    error.code() == ExitCode::io
                                ? 42
                                : 2);
                  }
              }),
              42);
}

TEST(Result, RoundTripsFlatValuesInOrder) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "result.json").string();
    const Result result{{"relative_l2", 6.7e-4},
                        {"steps", int64_t{1} << 60},
                        {"converged", true},
                        {"stopped_by", std::string("\"quoted\"\né")},
                        {"whole", 3.0}};
    write_result(path, result);
    EXPECT_EQ(read_result(path), result);
    EXPECT_EQ(std::get<double>(*find_value(result, "relative_l2")), 6.7e-4);
    EXPECT_EQ(find_value(result, "psnr"), nullptr);
    const std::vector<uint8_t> bytes = read_file(path);
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()).find("{\n  \"relative_l2\": 0.00067,\n"), 0u);

    write_result(path, {{"loss", std::numeric_limits<double>::quiet_NaN()},
                        {"psnr", std::numeric_limits<double>::infinity()},
                        {"name", std::string("caf\xe9")}});
    const Result again = read_result(path);
    EXPECT_TRUE(std::isnan(std::get<double>(again[0].second)));
    EXPECT_TRUE(std::isnan(std::get<double>(again[1].second)));
    EXPECT_THROW(write_result(path, {{"a", 1.0}, {"a", 2.0}}), Error);
    folder.write("large.json", "{\"a\": 18446744073709551615}");
    EXPECT_EQ(read_result((folder.path() / "large.json").string()),
              (Result{{"a", 18446744073709551616.0}}));
    for (const char* text : {"", "[1]", "{\"a\": [1]}", "{\"a\": 1"}) {
        folder.write("bad.json", text);
        error_of(ExitCode::bad_input, [&] { read_result((folder.path() / "bad.json").string()); });
    }
}

}  // namespace
}  // namespace ralimp
