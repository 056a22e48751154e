#include "trainers/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "trainers/signals.h"

extern char** environ;

namespace ralimp {
namespace {

constexpr std::chrono::seconds patience{120};

// A new folder that only this process uses, removed with all it holds.
class WorkFolder {
public:
    WorkFolder() {
        std::error_code error;
        const auto parent = std::filesystem::temp_directory_path(error);
        path_ = (error ? std::filesystem::path("/tmp") : parent) / "ralimp-plot-XXXXXX";
        std::string name = path_.string();
        if (!mkdtemp(name.data()))
            fail_with(ExitCode::io, "plot: the temporary folder {} cannot be made: {}", name,
                      std::strerror(errno));
        path_ = name;
    }
    ~WorkFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    std::string path() const { return path_.string(); }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

void write_quickly(const std::string& path, const void* bytes, std::size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    file.close();
    if (!file) fail_with(ExitCode::io, "plot: {} cannot be written; is the disk full?", path);
}

// The first lines of what gnuplot said, on one line.
std::string complaint(const std::string& path) {
    std::ifstream file(path);
    std::string text, line;
    while (std::getline(file, line) && text.size() < 300) {
        const std::size_t start = line.find_first_not_of(" \t^");
        if (start == std::string::npos) continue;
        text += (text.empty() ? "" : " ") + line.substr(start);
    }
    return text.empty() ? "it said nothing" : text;
}

class SpawnSettings {
public:
    explicit SpawnSettings(const std::string& folder) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions_, 2, "messages", O_WRONLY | O_CREAT, 0600);
        // Ctrl-C on the terminal stops the training in order; it must not kill the plot under way.
        posix_spawnattr_setpgroup(&attributes_, 0);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    int spawn(pid_t* process, const std::vector<std::string>& words) const {
        std::vector<char*> arguments;
        for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        return posix_spawnp(process, arguments[0], &actions_, &attributes_, arguments.data(),
                            environ);
    }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

// The wait status of the process; it is killed when it takes too long or a stop was requested.
int wait_for(pid_t process) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    int status = 0;
    for (;;) {
        const pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == process) return status;
        if (ended < 0 && errno != EINTR)
            fail("plot: gnuplot cannot be waited for: {}", std::strerror(errno));
        const bool late = std::chrono::steady_clock::now() > deadline;
        if (late || stop_requested()) {
            kill(process, SIGKILL);
            while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
            throw_if_stop_requested();
            fail("plot: gnuplot did not end within {} s", patience.count());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace

std::vector<uint8_t> run_gnuplot(const std::string& script, const std::vector<GnuplotFile>& files) {
    const WorkFolder folder;
    write_quickly(folder / "script", script.data(), script.size());
    for (const auto& [name, values] : files)
        write_quickly(folder / name, values.data(), values.size() * sizeof(double));

    pid_t process = 0;
    const int error = SpawnSettings(folder.path()).spawn(&process, {"gnuplot", "-d", "script"});
    if (error == ENOENT) fail("plot: gnuplot was not found; install gnuplot-nox");
    check(error == 0, "plot: gnuplot cannot be started: {}", std::strerror(error));
    const int status = wait_for(process);
    check(WIFEXITED(status), "plot: gnuplot was ended by signal {}", WTERMSIG(status));
    check(WEXITSTATUS(status) != 127, "plot: gnuplot cannot be started; install gnuplot-nox");
    check(WEXITSTATUS(status) == 0, "plot: gnuplot failed: {}", complaint(folder / "messages"));

    std::error_code missing;
    check(std::filesystem::file_size(folder / "picture.png", missing) > 0 && !missing,
          "plot: gnuplot made no picture: {}", complaint(folder / "messages"));
    return read_file(folder / "picture.png");
}

std::string gnuplot_string(const std::string& text) {
    // Octal codes for whatever could mean something; what starts UTF-8 characters stays. A digit
    // behind a code would be read as a part of it.
    std::string quoted = "\"";
    bool after_code = false;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        const bool plain =
            std::isalpha(code) || c == ' ' || code >= 128 || (std::isdigit(code) && !after_code);
        if (plain)
            quoted += c;
        else
            quoted += fmt::format("\\{:03o}", code < ' ' ? ' ' : code);
        after_code = !plain;
    }
    return quoted + "\"";
}

}  // namespace ralimp
