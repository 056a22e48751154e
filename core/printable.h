// Text from outside (names of files, entries of tables, words of a command line) on its way to a
// terminal.
#pragma once
#include <string>
#include <string_view>

namespace ralimp {

// The text with its control characters written out, "\x1b": those of ASCII but the line feed, which
// parts the lines of a message, and those of UTF-8 that terminals obey as well (U+0080 to U+009F).
std::string printable(std::string_view text);

}  // namespace ralimp
