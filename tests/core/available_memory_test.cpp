// What the operating system's files say, as Linux writes them.
#include "core/available_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace ralimp {
namespace {

class Files : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = root_ + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    double available() { return available_memory(root_); }
    void TearDown() override { std::filesystem::remove_all(root_); }

    std::string root_ = testing::TempDir() + "available_memory_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};
using AvailableMemory = Files;

TEST_F(AvailableMemory, IsThatOfTheMachineWithItsSwap) {
    EXPECT_TRUE(std::isinf(available()));
    write("/proc/meminfo", "MemTotal: 9000 kB\nMemFree:  10 kB\nMemAvailable:    3000 kB\n");
    EXPECT_EQ(available(), 3000 * 1024);
    write("/proc/meminfo", "MemAvailable:    3000 kB\nSwapTotal: 50 kB\nSwapFree:  20 kB\n");
    EXPECT_EQ(available(), 3020 * 1024);
}

TEST_F(AvailableMemory, IsLimitedByTheGroupAndThoseAroundIt) {
    write("/proc/meminfo", "MemAvailable: 100000 kB\n");
    write("/proc/self/cgroup", "0::/a/b\n");
    EXPECT_EQ(available(), 100000 * 1024);
    write("/sys/fs/cgroup/a/b/memory.max", "max\n");
    EXPECT_EQ(available(), 100000 * 1024);
    write("/sys/fs/cgroup/a/memory.max", "5000\n");
    write("/sys/fs/cgroup/a/memory.current", "4000\n");
    write("/sys/fs/cgroup/a/memory.stat", "anon 3400\nfile 600\ninactive_file 500\n");
    EXPECT_EQ(available(), 1500);
    write("/sys/fs/cgroup/a/b/memory.max", "700\n");
    write("/sys/fs/cgroup/a/b/memory.current", "100\n");
    EXPECT_EQ(available(), 600);
    write("/sys/fs/cgroup/a/b/memory.current", "900\n");
    EXPECT_EQ(available(), 0);
    // A container sees its own group as the root.
    write("/proc/self/cgroup", "0::/\n");
    write("/sys/fs/cgroup/memory.max", "40\n");
    EXPECT_EQ(available(), 40);
}

TEST_F(AvailableMemory, IsLimitedByTheFirstVersionOfGroups) {
    write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job\n0::/\n");
    write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "8000\n");
    write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6000\n");
    write("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 250\n");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(available(), 2250);
}

TEST(AvailableMemoryHere, IsMoreThanATestNeeds) { EXPECT_GT(available_memory(), 1e7); }

}  // namespace
}  // namespace ralimp
