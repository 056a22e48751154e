#include "core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
protected:
    std::string path(const std::string& name) const { return folder_ / name; }
    TemporaryFolder folder_;
};

std::vector<uint8_t> ramp(std::size_t count) {
    std::vector<uint8_t> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 256);
    return bytes;
}

TEST_F(File, WritesReadsAndReplaces) {
    for (const std::size_t count : {0, 1, 4096, 1000003}) {
        write_file(path("a"), ramp(count));
        EXPECT_EQ(read_file(path("a")), ramp(count));
        EXPECT_EQ(folder_.entries(), 1);  // nothing temporary is left
    }
}

TEST_F(File, ReadingSaysWhatIsWrong) {
    const auto [code, text] = error_of([&] { read_file(path("missing")); });
    EXPECT_EQ(code, ExitCode::bad_input);
    EXPECT_EQ(text, path("missing") + ": cannot be read: No such file or directory");

    EXPECT_EQ(error_of([&] { read_file(folder_.path()); }).text,
              folder_.path().string() + ": is a folder, not a file");
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(error_of([&] { read_file(path("pipe")); }).text,
              path("pipe") + ": is a device or a pipe, not a file");

    write_file(path("large"), ramp(100));
    EXPECT_EQ(read_file(path("large"), 100).size(), 100u);
    EXPECT_EQ(error_of([&] { read_file(path("large"), 99); }).text,
              path("large") + ": has 100 bytes, more than the 99 that are accepted");
}

TEST_F(File, WritingWhereNothingCanBeWritten) {
    const auto [code, text] = error_of([&] { write_file(path("none/a"), ramp(3)); });
    EXPECT_EQ(code, ExitCode::io);
    EXPECT_EQ(text, path("none/a") + ": cannot be written: No such file or directory");

    write_file(path("plain"), ramp(3));
    EXPECT_EQ(error_of([&] { write_file(path("plain/a"), ramp(3)); }).code, ExitCode::io);
    EXPECT_EQ(error_of([&] { write_file(folder_.path(), ramp(3)); }).code, ExitCode::io);
    EXPECT_EQ(error_of([&] { write_file("/dev/null", ramp(3)); }).code, ExitCode::io);
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(folder_.entries(), 1);
}

// What can be written is said as writing would say it, and nothing changes.
TEST_F(File, AsksBeforehandAsWritingWould) {
    write_file(path("plain"), ramp(3));
    fs::create_directory(path("folder"));
    for (const std::string& name :
         {path("none/a"), path("plain/a"), path("folder"), std::string("/dev/null"),
          std::string("/proc/a"), path(std::string(300, 'a'))}) {
        const Thrown asked = error_of([&] { check_writable(name); });
        EXPECT_EQ(asked.code, ExitCode::io) << name;
        EXPECT_EQ(asked.text, error_of([&] { write_file(name, ramp(3)); }).text);
    }
    EXPECT_EQ(error_of([&] { check_writable(path("plain")); }).text, "");
    EXPECT_EQ(error_of([&] { check_writable(path("new")); }).text, "");
    EXPECT_EQ(error_of([&] { check_folder_writable(path("folder")); }).text, "");
    EXPECT_EQ(error_of([&] { check_folder_writable(path("none")); }).text,
              path("none") + ": cannot be written: No such file or directory");
    EXPECT_EQ(error_of([&] { check_folder_writable(path("plain")); }).code, ExitCode::io);
    EXPECT_EQ(read_file(path("plain")), ramp(3));
    EXPECT_EQ(folder_.entries(), 2);
    EXPECT_TRUE(fs::is_empty(path("folder")));
}

// A limit on the size of files fails in the middle of the writing, as a full disk does.
TEST_F(File, FullDiskKeepsTheOldContent) {
    write_file(path("a"), ramp(10));
    rlimit old_limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = old_limit;
    limit.rlim_cur = 5000;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto [code, text] = error_of([&] { write_file(path("a"), ramp(20000)); });
    setrlimit(RLIMIT_FSIZE, &old_limit);
    std::signal(SIGXFSZ, old_handler);
    EXPECT_EQ(code, ExitCode::io);
    EXPECT_EQ(text, path("a") + ": cannot be written: File too large");
    EXPECT_EQ(read_file(path("a")), ramp(10));
    EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(File, ThreadsWritingOneNameLeaveOneWholeFile) {
    std::vector<std::thread> threads;
    for (std::size_t count = 1; count <= 4; ++count)
        threads.emplace_back([&, count] {
            for (int i = 0; i < 5; ++i) write_file(path("a"), ramp(count * 50000));
        });
    for (auto& thread : threads) thread.join();
    const auto bytes = read_file(path("a"));
    EXPECT_EQ(bytes.size() % 50000, 0u);
    EXPECT_EQ(bytes, ramp(bytes.size()));
    EXPECT_EQ(folder_.entries(), 1);
}

}  // namespace
}  // namespace ralimp
