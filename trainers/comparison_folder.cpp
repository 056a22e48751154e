#include "trainers/comparison_folder.h"

#include "core/error.h"
#include "core/file.h"
#include "trainers/run_folder.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

fs::path state_file(const fs::path& folder) { return folder / "comparison.json"; }

bool is_same_config(const fs::path& recorded, const fs::path& config) {
    std::error_code error;
    if (fs::exists(recorded, error)) return fs::equivalent(recorded, config, error);
    return recorded.filename() == config.filename();
}

}  // namespace

ComparisonFolder::ComparisonFolder(const fs::path& path, const fs::path& config)
    : path_(path), config_(fs::absolute(config)) {
    if (RunFolder::holds_run(path))
        fail_with(ExitCode::bad_config, "{}: is the folder of a run; choose another one",
                  path.string());
    std::error_code error;
    fs::create_directories(path, error);
    if (error) fail_with(ExitCode::io, "{}: cannot be made: {}", path.string(), error.message());
    lock_ = FolderLock(path,
                       "another comparison is under way there; wait until it has ended, or choose "
                       "another folder with --output");
    if (holds_comparison(path)) {
        const Result state = state_of(path);
        const ResultValue* found = find_value(state, "config");
        const auto* recorded = found ? std::get_if<std::string>(found) : nullptr;
        if (recorded && !is_same_config(*recorded, config_))
            fail_with(ExitCode::bad_config,
                      "{}: holds the comparison of {}, not that of {}; choose another folder with "
                      "--output",
                      path.string(), *recorded, config_.string());
    }
    check_folder_writable(path.string());
}

void ComparisonFolder::write(Result more) const {
    Result state{{"config", config_.string()}};
    state.insert(state.end(), more.begin(), more.end());
    write_result(state_file(path_).string(), state);
}

void ComparisonFolder::write_unfinished() const { write({{"state", std::string("unfinished")}}); }

void ComparisonFolder::write_finished(const std::string& metric, int64_t runs,
                                      int64_t failed) const {
    write({{"state", std::string("finished")},
           {"metric", metric},
           {"runs", runs},
           {"failed", failed}});
}

bool ComparisonFolder::holds_comparison(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(state_file(path), error);
}

Result ComparisonFolder::state_of(const fs::path& path) {
    return read_result(state_file(path).string());
}

}  // namespace ralimp
