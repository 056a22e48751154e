#include "trainers/gnuplot.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "trainers/signals.h"
#include "trainers/subprocess.h"

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

// The wait status of the process; the wait is given up when it takes too long or a stop was
// requested.
int wait_for(Subprocess& process) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        if (const std::optional<int> status = process.wait_status()) return *status;
        throw_if_stop_requested();
        check(std::chrono::steady_clock::now() < deadline, "plot: gnuplot did not end within {} s",
              patience.count());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

// In a group of its own: Ctrl-C on the terminal stops the training in order; it must not kill the
// plot under way.
std::unique_ptr<Subprocess> start_gnuplot(const std::string& folder) {
    try {
        return std::make_unique<Subprocess>(
            SubprocessCommand{.words = {"gnuplot", "-d", "script"}, .folder = folder});
    } catch (const Error& error) {
        if (error.code() == ExitCode::bad_input)
            fail("plot: gnuplot was not found; install gnuplot-nox");
        throw;
    }
}

}  // namespace

std::vector<uint8_t> run_gnuplot(const std::string& script, const std::vector<GnuplotFile>& files) {
    const WorkFolder folder;
    write_quickly(folder / "script", script.data(), script.size());
    for (const auto& [name, values] : files)
        write_quickly(folder / name, values.data(), values.size() * sizeof(double));

    const std::unique_ptr<Subprocess> gnuplot = start_gnuplot(folder.path());
    const int status = wait_for(*gnuplot);
    check(WIFEXITED(status), "plot: gnuplot was ended by signal {}", WTERMSIG(status));
    check(WEXITSTATUS(status) != 127, "plot: gnuplot cannot be started; install gnuplot-nox");
    check(WEXITSTATUS(status) == 0, "plot: gnuplot failed: {}", first_words(gnuplot->messages()));

    std::error_code missing;
    check(std::filesystem::file_size(folder / "picture.png", missing) > 0 && !missing,
          "plot: gnuplot made no picture: {}", first_words(gnuplot->messages()));
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
