#include "core/printable.h"

#include <gtest/gtest.h>

namespace ralimp {
namespace {

TEST(Printable, WritesOutEveryControlCharacter) {
    for (int c = 0; c < 0x100; ++c) {
        const std::string text{'a', static_cast<char>(c), 'b'}, shown = printable(text);
        const bool control = (c < 0x20 && c != '\n') || c == 0x7F;
        EXPECT_EQ(shown == text, !control) << c;
        if (control) {
            EXPECT_EQ(shown, "a\\x" + std::string(1, "0123456789abcdef"[c / 16]) +
                                 std::string(1, "0123456789abcdef"[c % 16]) + "b");
        }
    }
    EXPECT_EQ(printable("\xC2\x9B[31m"), "\\u009b[31m");
    EXPECT_EQ(printable("\xC2"), "\xC2");
}

TEST(Printable, LeavesOtherTextAlone) {
    for (const char* text : {"", "plain", "two\nlines", "Grün, ψ, 漢, \xC2\xA0"})
        EXPECT_EQ(printable(text), text);
}

}  // namespace
}  // namespace ralimp
