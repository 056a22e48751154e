// The checkpoints of one run in one folder: step-00001000.h5, the newest few, and best.h5. Choosing
// what goes into a checkpoint is the trainer's affair.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainers/checkpoint.h"

namespace ralimp {

class CheckpointFolder {
public:
    // Keeps the newest `keep` checkpoints (at least 1). The folder is made by the first save.
    explicit CheckpointFolder(std::filesystem::path folder, int64_t keep = 2);

    // Writes step-N.h5, and best.h5 too when it is the best so far, then removes the oldest ones,
    // those of later steps (a run that went on from an earlier checkpoint has left them behind) and
    // what a killed process left. Until the new file is complete nothing is removed. Error(io) as
    // from write_checkpoint.
    void save(int64_t step, const Checkpoint& checkpoint, bool is_best = false);

    struct Found {
        std::filesystem::path path;
        Checkpoint checkpoint;
    };
    // The newest checkpoint that can be read; `warn` gets one line for each newer one that cannot.
    // Nothing when the folder holds no checkpoint at all. When all are damaged, Error(bad_input):
    // starting again from nothing must be the user's decision.
    std::optional<Found> newest_valid(const std::function<void(const std::string&)>& warn) const;

    // The steps that have a file, in rising order; other names and folders do not count.
    std::vector<int64_t> steps() const;
    std::filesystem::path path_of(int64_t step) const;
    std::filesystem::path best_path() const { return folder_ / "best.h5"; }

private:
    std::filesystem::path folder_;
    int64_t keep_;
};

}  // namespace ralimp
