#include "core/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace ralimp {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// The number that a file holds; none when it is missing or holds a word ("max").
std::optional<double> number_in(const std::string& path) {
    std::ifstream file(path);
    double value = 0;
    if (file >> value) return value;
    return std::nullopt;
}

// The number behind a key at the start of a line: "MemAvailable:   123 kB", "inactive_file 123".
double number_of(const std::string& path, const std::string& key, double otherwise) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string word;
        double value = 0;
        if (words >> word >> value && word == key) return value;
    }
    return otherwise;
}

double left_in_machine(const std::string& root) {
    const std::string file = root + "/proc/meminfo";
    return 1024 * (number_of(file, "MemAvailable:", unlimited) + number_of(file, "SwapFree:", 0));
}

// The limits of a group and of all groups around it, below the mount of the controller. What its
// files' cache occupies is given back when memory is wanted.
double left_in_groups(const std::string& mount, std::string group, const char* limit,
                      const char* usage, const char* cache) {
    double left = unlimited;
    while (true) {
        const std::string folder = mount + (group == "/" ? "" : group) + "/";
        if (const auto most = number_in(folder + limit))
            left = std::min(left, std::max(0.0, *most - number_in(folder + usage).value_or(0) +
                                                    number_of(folder + "memory.stat", cache, 0)));
        const std::size_t slash = group.rfind('/');
        if (group.size() < 2 || slash == std::string::npos) return left;
        group.resize(slash);
    }
}

}  // namespace

double available_memory(const std::string& root) {
    double left = left_in_machine(root);
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "4:memory:/a/b"; version 2 "0::/a/b"
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string group = line.substr(second + 1);
        if (controllers.empty())
            left = std::min(left, left_in_groups(root + "/sys/fs/cgroup", group, "memory.max",
                                                 "memory.current", "inactive_file"));
        else if (("," + controllers + ",").find(",memory,") != std::string::npos)
            left = std::min(
                left, left_in_groups(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                     "memory.usage_in_bytes", "total_inactive_file"));
    }
    return left;
}

}  // namespace ralimp
