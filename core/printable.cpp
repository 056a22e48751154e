#include "core/printable.h"

#include <fmt/format.h>

namespace ralimp {

std::string printable(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((byte(i) < 0x20 && text[i] != '\n') || byte(i) == 0x7F)
            result += fmt::format("\\x{:02x}", byte(i));
        else if (byte(i) == 0xC2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xA0)
            result += fmt::format("\\u{:04x}", byte(++i));
        else
            result += text[i];
    }
    return result;
}

}  // namespace ralimp
