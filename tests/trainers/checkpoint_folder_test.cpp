// A folder of checkpoints under kills, full disks and damaged files.
#include "trainers/checkpoint_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/file.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/faults.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

Checkpoint at_step(int64_t step) {
    Checkpoint checkpoint;
    checkpoint.config = "seed: 0\n";
    checkpoint.values["step"] = step;
    checkpoint.add("model", {{"weight", Tensor::from(std::vector<int64_t>(40, step), {8, 5})}});
    return checkpoint;
}

// The step that a complete, consistent checkpoint was made at; -1 when it is not one.
int64_t step_in(const Checkpoint& checkpoint) {
    const int64_t step = checkpoint.whole_number("step");
    for (const int64_t value : checkpoint.tensors.at("model/weight").to_vector<int64_t>())
        if (value != step) return -1;
    return step;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

struct Warnings {
    std::vector<std::string> lines;
    std::function<void(const std::string&)> add() {
        return [this](const std::string& line) { lines.push_back(line); };
    }
};

TEST(CheckpointFolder, KeepsTheNewestAndTheBest) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path() / "made/by/save", 2);
    Warnings warnings;
    EXPECT_FALSE(checkpoints.newest_valid(warnings.add()));
    EXPECT_TRUE(checkpoints.steps().empty());
    for (int64_t step = 100; step <= 500; step += 100)
        checkpoints.save(step, at_step(step), step == 200);
    EXPECT_EQ(names_in(folder.path() / "made/by/save"),
              (std::vector<std::string>{"best.h5", "step-00000400.h5", "step-00000500.h5"}));
    EXPECT_EQ(step_in(checkpoints.newest_valid(warnings.add())->checkpoint), 500);
    EXPECT_EQ(step_in(read_checkpoint(checkpoints.best_path().string())), 200);
    EXPECT_TRUE(warnings.lines.empty());
    checkpoints.save(500, at_step(500));  // the same step again
    EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{400, 500}));
    EXPECT_THROW(CheckpointFolder(folder.path(), 0), Error);
}

TEST(CheckpointFolder, StepsBeyondEightDigitsAreInOrder) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 3);
    for (const int64_t step : {int64_t{0}, int64_t{99'999'999}, int64_t{100'000'000}})
        checkpoints.save(step, at_step(step));
    EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{0, 99'999'999, 100'000'000}));
    EXPECT_EQ(checkpoints.newest_valid([](auto&) {})->path.filename(), "step-100000000.h5");
}

// torchtitan PR#3732, PR#1311, PR#4191: a partial or foreign name won the comparison.
TEST(CheckpointFolder, OtherNamesDoNotCount) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 5);
    checkpoints.save(7, at_step(7));
    for (const char* name : {"step-00000009.h5.partial-1-2", "step-00000009.h5.tmp", "step-9.h5",
                             "step-0000009x.h5", "xstep-00000009.h5", "step-000000009.h5",
                             "step--0000009.h5", "step-99999999999999999999.h5", "notes.txt"})
        folder.write(name, "?");
    fs::create_directory(folder.path() / "step-00000010.h5");
    EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{7}));
    Warnings warnings;
    EXPECT_EQ(step_in(checkpoints.newest_valid(warnings.add())->checkpoint), 7);
    EXPECT_TRUE(warnings.lines.empty());
}

TEST(CheckpointFolder, SkipsDamagedOnesWithAWarning) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 5);
    checkpoints.save(1, at_step(1));
    checkpoints.save(2, at_step(2));
    folder.write("step-00000003.h5", "");
    fs::resize_file(checkpoints.path_of(2), fs::file_size(checkpoints.path_of(2)) - 100);
    Warnings warnings;
    const auto found = checkpoints.newest_valid(warnings.add());
    EXPECT_EQ(step_in(found->checkpoint), 1);
    EXPECT_EQ(found->path, checkpoints.path_of(1));
    ASSERT_EQ(warnings.lines.size(), 2u);
    EXPECT_EQ(warnings.lines[0],
              checkpoints.path_of(3).string() + ": is an empty file, no checkpoint; it is skipped");
    EXPECT_NE(warnings.lines[1].find("step-00000002.h5"), std::string::npos);

    fs::resize_file(checkpoints.path_of(1), 100);
    try {
        checkpoints.newest_valid(warnings.add());
        FAIL() << "all are damaged";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_input);
        EXPECT_NE(std::string(error.what()).find("none of its 3 checkpoints can be used"),
                  std::string::npos);
    }
}

// Bytes flipped, zeroed blocks as a crashed file system leaves them, other lengths: all over the
// file.
TEST(CheckpointFolder, AnyDamageLeadsToTheOneBefore) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 2);
    checkpoints.save(1, at_step(1));
    checkpoints.save(2, at_step(2));
    const std::string path = checkpoints.path_of(2).string();
    const std::vector<uint8_t> good = read_file(path);
    const auto falls_back = [&](const std::vector<uint8_t>& bytes, const std::string& what) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        Warnings warnings;
        const auto found = checkpoints.newest_valid(warnings.add());
        EXPECT_EQ(step_in(found->checkpoint), 1) << what;
        EXPECT_EQ(warnings.lines.size(), 1u) << what;
    };
    int64_t damages = 0;
    for (std::size_t at = 0; at < good.size(); at += at % 64 == 0 ? 1 : 21, ++damages) {
        std::vector<uint8_t> bytes = good;
        bytes[at] ^= static_cast<uint8_t>(1 + at % 255);
        falls_back(bytes, fmt::format("byte {} flipped", at));
        if (at == 0) continue;
        bytes = good;
        bytes.resize(at);
        falls_back(bytes, fmt::format("cut at {}", at));
        bytes.resize(good.size());
        if (bytes != good) falls_back(bytes, fmt::format("zeros from {} on", at));
    }
    EXPECT_GT(damages, 100);
    std::vector<uint8_t> longer = good;
    longer.push_back(0);
    falls_back(longer, "a byte too many");
    falls_back({}, "empty");
}

TEST(CheckpointFolder, GoingOnFromAnEarlierStepLeavesNoLaterOne) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 3);
    for (const int64_t step : {10, 20, 30}) checkpoints.save(step, at_step(step));
    checkpoints.save(15, at_step(15));
    EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{10, 15}));
}

// pytorch-lightning#688 and many others: a kill during the save destroyed the only checkpoint.
TEST(CheckpointFolder, SurvivesAKillAtEveryCall) {
    int64_t killed = 0;
    for (int64_t call = 0;; ++call) {
        const TemporaryFolder folder;
        CheckpointFolder checkpoints(folder.path(), 1);
        checkpoints.save(1, at_step(1), true);
        const int status = faults::in_child([&] {
            faults::begin(faults::Action::kill, call);
            checkpoints.save(2, at_step(2), true);
        });
        Warnings warnings;
        const auto found = checkpoints.newest_valid(warnings.add());
        ASSERT_TRUE(found) << "killed at call " << call;
        const int64_t step = step_in(found->checkpoint);
        const int64_t best = step_in(read_checkpoint(checkpoints.best_path().string()));
        EXPECT_TRUE(step == 1 || step == 2) << step << " after a kill at call " << call;
        EXPECT_TRUE(best == 1 || best == 2) << best << " after a kill at call " << call;
        EXPECT_TRUE(warnings.lines.empty());
        if (status == 0) {
            EXPECT_EQ(step, 2);
            break;
        }
        ASSERT_EQ(status, -SIGKILL);
        ++killed;
        checkpoints.save(3, at_step(3));  // the next run cleans up
        EXPECT_EQ(names_in(folder.path()),
                  (std::vector<std::string>{"best.h5", "step-00000003.h5"}));
    }
    EXPECT_GT(killed, 20);
}

TEST(CheckpointFolder, EveryFailingCallIsReportedAndLeavesTheFormerFiles) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 1);
    checkpoints.save(1, at_step(1));
    int64_t reported = 0;
    for (int64_t call = 0; reported == call; ++call) {
        faults::begin(faults::Action::fail, call, ENOSPC);
        try {
            write_checkpoint(checkpoints.path_of(2).string(), at_step(2));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::io);
            EXPECT_EQ(
                std::string(error.what()),
                checkpoints.path_of(2).string() + ": cannot be written: No space left on device");
            ++reported;
        }
        faults::end();
        if (reported > call) {
            EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"step-00000001.h5"}));
            EXPECT_EQ(step_in(checkpoints.newest_valid([](auto&) {})->checkpoint), 1);
        }
    }
    EXPECT_GT(reported, 10);  // each write, the flush, the close, the rename
    EXPECT_EQ(step_in(read_checkpoint(checkpoints.path_of(2).string())), 2);
}

TEST(CheckpointFolder, SaysWhenTheDiskIsFull) {
    const TemporaryFolder folder;
    CheckpointFolder checkpoints(folder.path(), 1);
    checkpoints.save(1, at_step(1));
    const int status = faults::in_child([&] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        try {
            checkpoints.save(2, at_step(2));
        } catch (const Error& error) {
            const std::string expected =
                checkpoints.path_of(2).string() + ": cannot be written: File too large";
            _exit(error.what() == expected && error.code() == ExitCode::io ? 42 : 1);
        }
    });
    EXPECT_EQ(status, 42);
    EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"step-00000001.h5"}));
}

TEST(CheckpointFolder, SaysWhenTheFolderCannotBeWritten) {
    const TemporaryFolder folder;
    const auto file = folder.write("file", "x");
    try {
        CheckpointFolder(file / "checkpoints").save(1, at_step(1));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::io);
        EXPECT_EQ(std::string(error.what()),
                  (file / "checkpoints").string() + ": cannot be made: Not a directory");
    }
    fs::create_directory(folder.path() / "read_only");
    fs::permissions(folder.path() / "read_only", fs::perms{0555});
    fs::permissions(folder.path(), fs::perms::all);
    const int status = faults::in_child([&] {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(1);  // permissions do not hold for root
        try {
            CheckpointFolder(folder.path() / "read_only").save(1, at_step(1));
        } catch (const Error& error) {
            _exit(std::string(error.what()).find("cannot be written: Permission denied") !=
                              std::string::npos &&
                          error.code() == ExitCode::io
                      ? 42
                      : 2);
        }
    });
    EXPECT_EQ(status, 42);
}

}  // namespace
}  // namespace ralimp
