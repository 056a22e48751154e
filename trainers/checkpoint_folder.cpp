#include "trainers/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/file.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

// The step in "step-00001000.h5", or -1 for any other name.
int64_t step_of(const std::string& name) {
    constexpr std::string_view prefix = "step-", suffix = ".h5";
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return -1;
    const char* first = name.data() + prefix.size();
    const char* last = name.data() + name.size() - suffix.size();
    if (last - first < 8 || !std::all_of(first, last, [](char c) { return c >= '0' && c <= '9'; }))
        return -1;
    int64_t step = -1;
    const auto [end, error] = std::from_chars(first, last, step);
    return error == std::errc() ? step : -1;
}

// What write_file leaves when its process is killed.
bool is_partial(const std::string& name) {
    return name.find(".h5.partial-") != std::string::npos &&
           (name.starts_with("step-") || name.starts_with("best.h5"));
}

template <class F>
void for_each_file(const fs::path& folder, F&& f) {
    std::error_code error;
    fs::directory_iterator it(folder, error);
    if (error == std::errc::no_such_file_or_directory) return;
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
        std::error_code status_error;
        if (it->is_regular_file(status_error)) f(it->path());
    }
    if (error)
        fail_with(ExitCode::bad_input, "{}: cannot be read: {}", folder.string(), error.message());
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, int64_t keep)
    : folder_(std::move(folder)), keep_(keep) {
    check(keep >= 1, "checkpoints: {} cannot be kept; keep at least 1", keep);
}

fs::path CheckpointFolder::path_of(int64_t step) const {
    return folder_ / fmt::format("step-{:08}.h5", step);
}

std::vector<int64_t> CheckpointFolder::steps() const {
    std::vector<int64_t> steps;
    for_each_file(folder_, [&](const fs::path& path) {
        if (const int64_t step = step_of(path.filename().string());
            step >= 0 && path == path_of(step))
            steps.push_back(step);
    });
    std::sort(steps.begin(), steps.end());
    return steps;
}

void CheckpointFolder::save(int64_t step, const Checkpoint& checkpoint, bool is_best) {
    check(step >= 0, "checkpoints: step {} is negative", step);
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) fail_with(ExitCode::io, "{}: cannot be made: {}", folder_.string(), error.message());
    const std::vector<uint8_t> bytes = encode_checkpoint(checkpoint);
    write_file(path_of(step).string(), bytes);
    if (is_best) write_file(best_path().string(), bytes);

    // A file that cannot be removed is no reason to stop a training run.
    int64_t newest = 1;
    const std::vector<int64_t> all = steps();
    for (auto other = all.rbegin(); other != all.rend(); ++other) {
        const bool kept = *other == step || (*other < step && newest++ < keep_);
        if (!kept) fs::remove(path_of(*other), error);
    }
    for_each_file(folder_, [&](const fs::path& path) {
        if (is_partial(path.filename().string())) fs::remove(path, error);
    });
}

std::optional<CheckpointFolder::Found> CheckpointFolder::newest_valid(
    const std::function<void(const std::string&)>& warn) const {
    const std::vector<int64_t> all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
        const fs::path path = path_of(*step);
        try {
            return Found{path, read_checkpoint(path.string())};
        } catch (const Error& error) {
            if (error.code() != ExitCode::bad_input) throw;
            warn(fmt::format("{}; it is skipped", error.what()));
        }
    }
    if (!all.empty())
        fail_with(ExitCode::bad_input,
                  "{}: none of its {} checkpoints can be used; move them away to start again",
                  folder_.string(), all.size());
    return std::nullopt;
}

}  // namespace ralimp
