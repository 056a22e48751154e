#include "trainers/subprocess.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "core/error.h"

extern char** environ;

namespace ralimp {
namespace {

// Null-terminated, as exec wants it; the texts must outlive it.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& own) {
    std::vector<std::string> all;
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        const std::string_view name = text.substr(0, text.find('=') + 1);
        bool replaced = false;
        for (const std::string& other : own) replaced = replaced || other.starts_with(name);
        if (!replaced) all.emplace_back(text);
    }
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

// In the child, between fork and exec: system calls alone. Returns only when one fails.
void become(const SubprocessCommand& command, char* const* words, char* const* environment,
            int messages, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);  // it went before that was set
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (!command.folder.empty() && chdir(command.folder.c_str()) != 0) return;
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (in < 0 || out < 0) return;
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(messages, 2) < 0) return;
    execvpe(words[0], words, environment);
}

}  // namespace

Subprocess::MemoryFile::MemoryFile() : descriptor(memfd_create("messages", MFD_CLOEXEC)) {
    check(descriptor >= 0, "a file in memory cannot be made: {}", std::strerror(errno));
}

Subprocess::MemoryFile::~MemoryFile() { close(descriptor); }

Subprocess::Subprocess(const SubprocessCommand& command) {
    const std::vector<char*> words = pointers_to(command.words);
    const std::vector<std::string> variables = environment_with(command.environment);
    const std::vector<char*> environment = pointers_to(variables);
    int trouble[2];  // what failed in the child; closed by a successful exec
    check(pipe2(trouble, O_CLOEXEC) == 0, "{} cannot be started: {}", command.words[0],
          std::strerror(errno));
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
        become(command, words.data(), environment.data(), messages_.descriptor, parent);
        const int error = errno;
        [[maybe_unused]] const auto written = write(trouble[1], &error, sizeof error);
        _exit(127);
    }
    int error = process_ < 0 ? errno : 0;
    close(trouble[1]);
    if (process_ > 0) {
        ssize_t got = 0;
        while ((got = read(trouble[0], &error, sizeof error)) < 0 && errno == EINTR) {}
        if (got > 0)
            while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
    }
    close(trouble[0]);
    if (error == ENOENT)
        fail_with(ExitCode::bad_input, "{}: there is no such program", command.words[0]);
    check(error == 0, "{} cannot be started: {}", command.words[0], std::strerror(error));
}

Subprocess::~Subprocess() {
    if (wait_status()) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::optional<int> Subprocess::wait_status() {
    if (status_) return status_;
    int status = 0;
    const pid_t ended = waitpid(process_, &status, WNOHANG);
    check(ended >= 0 || errno == EINTR, "a child process cannot be waited for: {}",
          std::strerror(errno));
    if (ended == process_) status_ = status;
    return status_;
}

void Subprocess::signal(int number) const {
    if (!status_) kill(process_, number);
}

std::string Subprocess::messages() const {
    std::string text;
    char part[4096];
    ssize_t got;
    while ((got = pread(messages_.descriptor, part, sizeof part, static_cast<off_t>(text.size()))) >
           0)
        text.append(part, static_cast<std::size_t>(got));
    return text;
}

std::string first_words(const std::string& messages) {
    std::istringstream lines(messages);
    std::string text, line;
    while (std::getline(lines, line) && text.size() < 300) {
        const std::size_t start = line.find_first_not_of(" \t^");
        if (start == std::string::npos) continue;
        text += (text.empty() ? "" : " ") + line.substr(start);
    }
    return text.empty() ? "it said nothing" : text;
}

std::string last_line(const std::string& messages) {
    std::istringstream lines(messages);
    std::string last, line;
    while (std::getline(lines, line))
        if (!line.empty()) last = line;
    return last;
}

}  // namespace ralimp
