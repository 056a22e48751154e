// The folder of one run: where its files are, how a new one is named, and that no run writes into
// another's. What stands in the files is in metrics.h, log.h, result.h and checkpoint_folder.h.
#pragma once
#include <filesystem>
#include <string>

#include "trainers/folder_lock.h"

namespace ralimp {

class RunFolder {
public:
    // parent/name-1, or with the number after the highest that is there; never an existing folder,
    // also when several runs start at once. Error(io) when it cannot be made.
    static RunFolder create_numbered(const std::filesystem::path& parent, const std::string& name);
    // This very folder, which must be absent or empty: Error(bad_config) when it holds anything but
    // the empty subfolders of a run that was killed at its start.
    static RunFolder create(const std::filesystem::path& path);
    // A run that exists: Error(bad_input) when there is no config.yaml.
    static RunFolder open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path config() const { return path_ / "config.yaml"; }
    std::filesystem::path log() const { return path_ / "log.txt"; }
    std::filesystem::path metrics() const { return path_ / "metrics.csv"; }
    std::filesystem::path result() const { return path_ / "result.json"; }
    std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
    std::filesystem::path pictures() const { return path_ / "pictures"; }

    // Whether a run stands there: a config.yaml.
    static bool holds_run(const std::filesystem::path& path);
    // Whether the run came to its end: a result.json whose stopped_by is not "interrupted",
    // "non-finite loss", "error" or "converted".
    bool finished() const;

    // Holds the folder for writing until this object goes: Error(io) when another process has it.
    // Creating does this; a run that is opened to go on must ask for it.
    void lock();
    // Removes the temporary files of a process that was killed. For a folder that is locked.
    void remove_leftovers() const;
    // The resolved config, atomically.
    void write_config(const std::string& text) const;

private:
    explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
    void make_subfolders() const;

    std::filesystem::path path_;
    FolderLock lock_;
};

}  // namespace ralimp
