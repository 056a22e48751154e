#include "trainers/data_files.h"

#include <sys/stat.h>
#include <xxhash.h>

#include "core/file.h"

namespace ralimp {
namespace {

// A visitor of describe() that collects paths.
struct PathsOf {
    std::vector<std::filesystem::path>& paths;

    template <class T>
    void operator()(const char*, const T& value, const char*, const Rule& = {}) {
        add(value);
    }
    void check(auto&&...) {}

    template <class T>
    void add(const T& value) {
        if constexpr (std::same_as<T, std::filesystem::path>) {
            if (!value.empty()) paths.push_back(value);
        } else if constexpr (ConfigOptional<T>) {
            if (value) add(*value);
        } else if constexpr (ConfigList<T>) {
            if constexpr (!std::is_arithmetic_v<typename T::value_type>)
                for (const auto& item : value) add(item);
        } else if constexpr (ConfigVariant<T>) {
            std::visit([&](const auto& chosen) { add(chosen); }, value);
        } else if constexpr (DescribedStruct<T>) {
            T::describe(value, *this);
        }
    }
};

}  // namespace

std::vector<std::filesystem::path> data_files(const RunConfig& config) {
    std::vector<std::filesystem::path> paths;
    PathsOf{paths}.add(config);
    return paths;
}

uint64_t hash_of_files(const std::vector<std::filesystem::path>& files) {
    uint64_t hash = 0;
    for (const std::filesystem::path& file : files) {
        const std::vector<uint8_t> bytes = read_file(file.string());
        const uint64_t own[] = {hash, bytes.size(), XXH3_64bits(bytes.data(), bytes.size())};
        hash = XXH3_64bits(own, sizeof own);
    }
    return hash;
}

std::vector<std::array<int64_t, 2>> changes_of_files(
    const std::vector<std::filesystem::path>& files) {
    std::vector<std::array<int64_t, 2>> changes;
    for (const std::filesystem::path& file : files) {
        struct stat status {};
        if (stat(file.c_str(), &status) != 0) status = {};
        changes.push_back({status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec,
                           static_cast<int64_t>(status.st_ino)});
    }
    return changes;
}

}  // namespace ralimp
