#include "trainers/log.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/error.h"
#include "core/printable.h"

namespace ralimp {
namespace {

constexpr double bar_interval = 0.1;                // seconds
constexpr std::string_view clear_bar = "\r\x1b[K";  // to the begin of the line, erase it

std::string bar_of(double done, const std::string& text) {
    done = std::clamp(done, 0.0, 1.0);
    constexpr int width = 20;
    const int filled = static_cast<int>(done * width);
    return fmt::format("[{:#<{}}{:.<{}}] {:3.0f}%  {}", "", filled, "", width - filled,
                       std::floor(done * 100), text);
}

}  // namespace

std::string format_number(double value) {
    if (std::isnan(value)) return "nan";  // its sign says nothing
    if (!std::isfinite(value)) return fmt::format("{}", value);
    return fmt::format("{:.4g}", value);
}

std::string format_progress(const Progress& progress) {
    std::string text = fmt::format("step {}/{}  loss {}", progress.step, progress.total_steps,
                                   format_number(progress.loss));
    std::string terms;
    for (const auto& [name, value] : progress.terms)
        terms += fmt::format("{}{} {}", terms.empty() ? "" : ", ", name, format_number(value));
    if (!terms.empty()) text += fmt::format(" ({})", terms);
    text += fmt::format("  lr {}", format_number(progress.learning_rate));
    if (progress.steps_per_second && std::isfinite(*progress.steps_per_second))
        text += fmt::format("  {} steps/s", format_number(*progress.steps_per_second));
    return text + fmt::format("  eta {}", format_duration(progress.seconds_left));
}

Log::Output Log::standard_output() {
    Output output;
    output.descriptor = STDOUT_FILENO;
    const char* terminal = std::getenv("TERM");
    output.is_terminal =
        ::isatty(STDOUT_FILENO) && !(terminal && std::string_view(terminal) == "dumb");
    struct winsize size {};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        output.columns = size.ws_col;
    return output;
}

Log::Log(const Output& output, Pace::Clock clock)
    : output_(output),
      clock_(std::move(clock)),
      bar_time_(-std::numeric_limits<double>::infinity()) {}

Log::~Log() { end_progress(); }

void Log::open_file(const std::string& path) {
    check(!file_, "log: a file is open already");
    file_.emplace(path);
    write_to_file(early_);
    early_.clear();
}

void Log::write_to_file(std::string_view text) {
    if (file_)
        file_->append(text);
    else
        early_ += text;
}

void Log::write_to_output(std::string_view text) {
    if (output_.descriptor < 0 || write_text(output_.descriptor, text)) return;
    const bool nobody_reads = errno == EPIPE || errno == EIO || errno == EBADF;
    if (!nobody_reads && output_error_ == 0) output_error_ = errno;
}

void Log::write_line(const std::string& text) {
    end_progress();
    const std::string line = printable(text) + "\n";
    write_to_output(line);
    write_to_file(line);
}

void Log::progress(const Progress& progress, bool say) {
    const std::string text = format_progress(progress);
    if (say) say_progress(text);
    const double total = static_cast<double>(std::max<int64_t>(progress.total_steps, 1));
    Progress brief = progress;  // rather without the terms than without speed and time left
    brief.terms.clear();
    show_bar(static_cast<double>(progress.step) / total, text, format_progress(brief));
}

void Log::progress(double done, const std::string& text, bool say) {
    if (say) say_progress(text);
    show_bar(done, text, text);
}

void Log::say_progress(const std::string& text) {
    if (!output_.is_terminal) write_to_output(text + "\n");
    write_to_file(text + "\n");
}

void Log::show_bar(double done, const std::string& text, const std::string& brief) {
    const double now = clock_();
    if (!output_.is_terminal || output_.descriptor < 0 || now - bar_time_ < bar_interval) return;
    bar_time_ = now;
    bar_shown_ = true;
    // A line as wide as the terminal wraps on some of them.
    const std::size_t room = static_cast<std::size_t>(std::max(output_.columns - 1, 0));
    std::string bar = bar_of(done, text);
    if (bar.size() > room) bar = bar_of(done, brief);
    if (bar.size() > room) bar.resize(room);
    write_to_output(std::string(clear_bar) + bar);
}

void Log::end_progress() {
    if (!bar_shown_) return;
    bar_shown_ = false;
    bar_time_ = -std::numeric_limits<double>::infinity();
    write_to_output(clear_bar);
}

}  // namespace ralimp
