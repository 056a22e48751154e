// The folder of a comparison: whose it is, how far it is, and that one process at a time writes it.
// comparison.json has the config, the state (unfinished or finished), and of what is finished the
// figure that decides and how many runs there are and failed.
#pragma once
#include <filesystem>

#include "trainers/folder_lock.h"
#include "trainers/result.h"

namespace ralimp {

class ComparisonFolder {
public:
    // Makes the folder where there is none, and holds it for writing by the comparison of that
    // config. Error(bad_config) for the folder of a run or of another comparison; Error(io) where
    // it cannot be written or another process writes it. The config of a comparison that was moved
    // may have another path, if it has the name.
    ComparisonFolder(const std::filesystem::path& path, const std::filesystem::path& config);

    const std::filesystem::path& path() const { return path_; }
    void write_unfinished() const;
    void write_finished(const std::string& metric, int64_t runs, int64_t failed) const;

    static bool holds_comparison(const std::filesystem::path& path);
    // What comparison.json says. Error as read_result().
    static Result state_of(const std::filesystem::path& path);

private:
    void write(Result more) const;

    std::filesystem::path path_, config_;
    FolderLock lock_;
};

}  // namespace ralimp
