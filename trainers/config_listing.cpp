#include "trainers/config_listing.h"

#include <algorithm>

namespace ralimp {

std::string format_config_keys(const std::vector<ConfigKey>& keys) {
    std::size_t width = 0;
    for (const ConfigKey& key : keys)
        width = std::max(width, key.path.size() + (key.kind.empty() ? 0 : 2));
    std::string text;
    std::string kind;
    for (const ConfigKey& key : keys) {
        if (key.kind != kind && !key.kind.empty()) text += fmt::format("with {}:\n", key.kind);
        kind = key.kind;
        text +=
            fmt::format("{:{}}{:{}}  {}{}", "", kind.empty() ? 0 : 2, key.path,
                        width - (kind.empty() ? 0 : 2), key.type,
                        key.default_text.empty() ? ", required"
                                                 : fmt::format(", default {}", key.default_text));
        if (!key.help.empty()) text += fmt::format("  # {}", key.help);
        text += '\n';
    }
    return text;
}

}  // namespace ralimp
