// gnuplot as a subprocess: a script and its data files in, the bytes of a PNG out. What is drawn is
// decided in plot.h.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ralimp {

// Data that the script names, such as "curve0": no folder, letters and digits only.
struct GnuplotFile {
    std::string name;
    std::vector<double> values;  // read by `binary format='%double'`
};

// Runs the script in a temporary folder of its own, where the files lie and where its output must
// be 'picture.png'; returns that file. The user's gnuplot settings are not read. Error when gnuplot
// is missing, complains, or takes longer than two minutes (ExitCode::failure), or when the
// temporary folder cannot be written (ExitCode::io); Interrupted when a stop is requested
// meanwhile.
std::vector<uint8_t> run_gnuplot(const std::string& script, const std::vector<GnuplotFile>& files);

// The text as a string of the gnuplot language that stands for exactly this text: no substitution,
// no escape; line breaks become spaces.
std::string gnuplot_string(const std::string& text);

}  // namespace ralimp
