// What a run says: lines to the terminal and to log.txt, and how far it is: a bar on a terminal,
// plain lines elsewhere.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trainers/appended_file.h"
#include "trainers/metrics.h"
#include "trainers/pace.h"

namespace ralimp {

struct Progress {
    int64_t step = 0;
    int64_t total_steps = 0;
    double loss = 0;
    NamedValues terms;  // of the loss, in the order they are shown
    double learning_rate = 0;
    std::optional<double> steps_per_second;
    std::optional<double> seconds_left;
};

// step 1200/15000  loss 3.214e-03 (residual 3.1e-03, boundary 1.1e-04)  lr 1e-03  512 steps/s  eta
// 27s
std::string format_progress(const Progress& progress);
// Four significant digits: "0.001234", "3.214e-07", "nan", "-inf".
std::string format_number(double value);

class Log {
public:
    struct Output {
        int descriptor = 1;        // where lines go; -1: nowhere
        bool is_terminal = false;  // a bar instead of plain progress lines
        int columns = 80;
    };
    // Standard output as it is, with the width of its terminal.
    static Output standard_output();

    explicit Log(const Output& output = standard_output(),
                 Pace::Clock clock = Pace::steady_seconds);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // From now on lines also go to this file, behind what stands there (a resumed run goes on).
    // Lines said before are written to it first. Error(io) when it cannot be written, now or at any
    // later line; a terminal or pipe that is gone is no error.
    void open_file(const std::string& path);

    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        write_line(fmt::format(format, std::forward<Args>(args)...));
    }
    template <class... Args>
    void warning(fmt::format_string<Args...> format, Args&&... args) {
        write_line("warning: " + fmt::format(format, std::forward<Args>(args)...));
    }
    // To be called at every step; draws the bar at most ten times a second. With `say`, a plain
    // line goes to the file, and to an output that is no terminal.
    void progress(const Progress& progress, bool say);
    // The same for work without a loss: how much of it is done, from 0 to 1, and what is said.
    void progress(double done, const std::string& text, bool say);
    // Why lines could not be written to the output, errno; 0: they could. A reader that went away
    // is no reason. The run goes on all the same: its folder has everything.
    int output_error() const { return output_error_; }
    // Removes the bar; the next line would do it too.
    void end_progress();

private:
    void write_line(const std::string& text);
    void say_progress(const std::string& text);
    void show_bar(double done, const std::string& text, const std::string& brief);
    void write_to_file(std::string_view text);
    void write_to_output(std::string_view text);

    Output output_;
    Pace::Clock clock_;
    std::string early_;  // said before there was a file
    std::optional<AppendedFile> file_;
    int output_error_ = 0;
    bool bar_shown_ = false;
    double bar_time_;
};

}  // namespace ralimp
