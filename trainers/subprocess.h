// Another program as a child process: pictures drawn by gnuplot, runs of a comparison.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace ralimp {

struct SubprocessCommand {
    std::vector<std::string> words;  // the program, looked for in PATH, and its arguments
    std::string folder = {};         // where it works; empty: where we do
    std::vector<std::string> environment = {};  // "NAME=value", besides ours
};

// Nothing to read, its output to nowhere; its standard error is kept in memory, so that it is there
// whatever the disk has room for. It has a process group of its own, so that Ctrl-C on the
// terminal reaches it only by signal(); it ends (SIGTERM) when this process does, however that
// happens, and is killed when the object goes while it runs.
class Subprocess {
public:
    // Error when it cannot be started; Error(bad_input) when there is no such program.
    explicit Subprocess(const SubprocessCommand& command);
    ~Subprocess();
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;

    // As of waitpid(), once it has ended.
    std::optional<int> wait_status();
    void signal(int number) const;
    // What it has said on standard error so far.
    std::string messages() const;

private:
    pid_t process_ = 0;
    struct MemoryFile {
        MemoryFile();
        ~MemoryFile();
        MemoryFile(const MemoryFile&) = delete;
        int descriptor;
    } messages_;
    std::optional<int> status_;
};

// The first lines of what a program said, on one line: "it said nothing" for nothing.
std::string first_words(const std::string& messages);
// The last line that is not empty; "" for nothing.
std::string last_line(const std::string& messages);

}  // namespace ralimp
