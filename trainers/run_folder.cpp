#include "trainers/run_folder.h"

#include <charconv>
#include <system_error>

#include "core/error.h"
#include "core/file.h"
#include "trainers/result.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

void make_folders(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) fail_with(ExitCode::io, "{}: cannot be made: {}", path.string(), error.message());
}

// Also true for what a run leaves that was killed before it had written its config.
bool holds_nothing(const fs::path& path) {
    std::error_code error;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        const bool is_subfolder = name == "checkpoints" || name == "pictures";
        if (is_subfolder ? !fs::is_empty(it->path(), error) || error
                         : !name.starts_with("config.yaml.partial-"))
            return false;
    }
    if (error) fail_with(ExitCode::io, "{}: cannot be read: {}", path.string(), error.message());
    return true;
}

// The number in "name-12", or 0 for another name.
int64_t number_of(const std::string& file_name, const std::string& name) {
    if (!file_name.starts_with(name + "-")) return 0;
    int64_t number = 0;
    const char* first = file_name.data() + name.size() + 1;
    const char* last = file_name.data() + file_name.size();
    const auto [end, error] = std::from_chars(first, last, number);
    return error == std::errc() && end == last && number > 0 ? number : 0;
}

}  // namespace

RunFolder RunFolder::create_numbered(const fs::path& parent, const std::string& name) {
    check(!name.empty() && name.find('/') == std::string::npos, "run: '{}' is no name for a folder",
          name);
    make_folders(parent);
    int64_t number = 0;
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
        number = std::max(number, number_of(it->path().filename().string(), name));
    if (error) fail_with(ExitCode::io, "{}: cannot be read: {}", parent.string(), error.message());
    while (true) {
        RunFolder folder(parent / fmt::format("{}-{}", name, ++number));
        // False without an error: another run took the name a moment ago.
        if (fs::create_directory(folder.path_, error)) {
            folder.lock();
            folder.make_subfolders();
            return folder;
        }
        if (error)
            fail_with(ExitCode::io, "{}: cannot be made: {}", folder.path_.string(),
                      error.message());
    }
}

RunFolder RunFolder::create(const fs::path& path) {
    std::error_code error;
    if (holds_run(path))
        fail_with(ExitCode::bad_config,
                  "{}: holds a run already; choose another folder, or resume the run",
                  path.string());
    make_folders(path);
    RunFolder folder(path);
    folder.lock();
    if (!holds_nothing(path))
        fail_with(ExitCode::bad_config, "{}: is not empty; choose another folder for the run",
                  path.string());
    folder.make_subfolders();
    return folder;
}

RunFolder RunFolder::open(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error))
        fail_with(ExitCode::bad_input, "{}: does not exist", path.string());
    if (!holds_run(path))
        fail_with(ExitCode::bad_input, "{}: is not the folder of a run (it has no config.yaml)",
                  path.string());
    return RunFolder(path);
}

bool RunFolder::holds_run(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path / "config.yaml", error);
}

bool RunFolder::finished() const {
    std::error_code error;
    if (!fs::exists(result(), error)) return false;
    const Result values = read_result(result().string());
    const ResultValue* stopped_by = find_value(values, "stopped_by");
    if (!stopped_by || !std::holds_alternative<std::string>(*stopped_by)) return false;
    for (const char* unfinished : {"interrupted", "non-finite loss", "error", "converted"})
        if (*stopped_by == ResultValue(std::string(unfinished))) return false;
    return true;
}

void RunFolder::lock() {
    if (!lock_.is_held()) lock_ = FolderLock(path_, "another process is writing this run");
}

void RunFolder::remove_leftovers() const {
    for (const fs::path& folder : {path_, checkpoints(), pictures()}) {
        std::error_code error;
        for (fs::directory_iterator it(folder, error), end; !error && it != end;
             it.increment(error)) {
            std::error_code ignored;
            if (it->path().filename().string().find(".partial-") != std::string::npos &&
                it->is_regular_file(ignored))
                fs::remove(it->path(), ignored);
        }
    }
}

void RunFolder::make_subfolders() const {
    make_folders(checkpoints());
    make_folders(pictures());
}

void RunFolder::write_config(const std::string& text) const {
    write_file(config().string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace ralimp
