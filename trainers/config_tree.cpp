#include "trainers/config_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/error.h"

namespace ralimp {
namespace {

constexpr std::size_t largest_text = 1 << 20;
constexpr std::size_t deepest_nesting = 64;

using Source = std::shared_ptr<const ConfigSource>;

[[noreturn]] void fail_at(const ConfigPlace& place, const std::string& message) {
    fail_with(ExitCode::bad_config, "{}: {}", to_string(place), message);
}

// The lines of a text, to turn yaml-cpp's byte columns into character columns.
class Lines {
public:
    explicit Lines(const std::string& text) : text_(text) {
        starts_.push_back(0);
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i] == '\n') starts_.push_back(i + 1);
    }

    ConfigPlace place(const Source& source, int line, int column) const {
        line = std::clamp(line, 0, static_cast<int>(starts_.size()) - 1);
        const std::size_t start = starts_[static_cast<std::size_t>(line)];
        const std::size_t end =
            std::min(start + static_cast<std::size_t>(std::max(column, 0)), text_.size());
        // Places come mostly in rising order: count on from the last one, or long lines cost
        // quadratic time.
        if (line != counted_line_ || end < counted_end_) {
            counted_line_ = line;
            counted_end_ = start;
            characters_ = 0;
        }
        for (; counted_end_ < end; ++counted_end_)
            characters_ += (text_[counted_end_] & 0xC0) != 0x80;
        return {source, line + 1, characters_ + 1};
    }

    ConfigPlace place_of_byte(const Source& source, std::size_t offset) const {
        const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
        const auto line = after - starts_.begin() - 1;
        return place(source, static_cast<int>(line),
                     static_cast<int>(offset - starts_[static_cast<std::size_t>(line)]));
    }

    std::string_view line(int number) const {
        const std::size_t index = static_cast<std::size_t>(number - 1);
        const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] : text_.size();
        return std::string_view(text_).substr(starts_[index], end - starts_[index]);
    }

private:
    const std::string& text_;
    std::vector<std::size_t> starts_;
    mutable int counted_line_ = -1;
    mutable std::size_t counted_end_ = 0;
    mutable int characters_ = 0;  // of the counted line before counted_end_
};

// Builds the tree from the parser's events. yaml-cpp's own Node is not used: it keeps the first of
// two equal keys and resolves aliases without a trace.
class TreeBuilder : public YAML::EventHandler {
public:
    // A text without any event, an empty one, stands for null at no line.
    TreeBuilder(Source source, const Lines& lines) : source_(std::move(source)), lines_(lines) {
        root_.place = {source_};
    }

    ConfigNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0)
            fail_at(place(mark), "a second document begins here; a config is one document");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        ConfigNode node;
        node.place = place(mark);
        add(std::move(node));
    }
    void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
        fail_at(place(mark),
                fmt::format("anchor &{}: anchors are not supported; use base: or write "
                            "the value again",
                            shown(name)));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        fail_at(place(mark), "aliases (*name) are not supported; write the value again");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  const std::string& value) override {
        ConfigNode node;
        node.place = place(mark);
        if (tag != "!") check_tag(node.place, tag);
        node.kind = ConfigNode::Kind::scalar;
        node.text = value;
        node.quoted = tag == "!";
        add(std::move(node));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        begin(mark, tag, ConfigNode::Kind::list);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        begin(mark, tag, ConfigNode::Kind::map);
    }
    void OnMapEnd() override { end(); }

private:
    struct Open {
        ConfigNode node;
        std::map<std::string, ConfigPlace, std::less<>> keys;
        bool has_key = false;  // a key was read and waits for its value
    };

    ConfigPlace place(const YAML::Mark& mark) const {
        return lines_.place(source_, mark.line, mark.column);
    }

    void check_tag(const ConfigPlace& at, const std::string& tag) const {
        if (!tag.empty() && tag != "?")
            fail_at(at, fmt::format("tag {}: tags are not supported; remove it", shown(tag)));
    }

    void begin(const YAML::Mark& mark, const std::string& tag, ConfigNode::Kind kind) {
        Open open;
        open.node.kind = kind;
        open.node.place = place(mark);
        check_tag(open.node.place, tag);
        if (open_.size() >= deepest_nesting)
            fail_at(open.node.place,
                    fmt::format("maps and lists are nested more than {} deep", deepest_nesting));
        open_.push_back(std::move(open));
    }

    void end() {
        ConfigNode node = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(node));
    }

    void add(ConfigNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.kind == ConfigNode::Kind::list) {
            parent.node.items.push_back(std::move(node));
        } else if (parent.has_key) {
            ConfigNode::Entry& entry = parent.node.entries.back();
            // yaml-cpp puts an absent value at the token that follows it.
            if (node.kind == ConfigNode::Kind::null) node.place = entry.place;
            entry.value = std::move(node);
            parent.has_key = false;
        } else {
            add_key(parent, std::move(node));
        }
    }

    void add_key(Open& parent, ConfigNode node) {
        if (node.kind != ConfigNode::Kind::scalar) fail_at(node.place, "a key must be a word");
        if (node.text == "<<" && !node.quoted)
            fail_at(node.place,
                    "merge keys (<<) are not supported; use base: or write the keys out");
        const auto [earlier, is_new] = parent.keys.emplace(node.text, node.place);
        if (!is_new)
            fail_at(node.place, fmt::format("key {} is given twice; it stands already at {}",
                                            shown(node.text), to_string(earlier->second)));
        parent.node.entries.push_back({std::move(node.text), node.place, {}});
        parent.has_key = true;
    }

    Source source_;
    const Lines& lines_;
    ConfigNode root_;
    std::vector<Open> open_;
    int documents_ = 0;
};

void check_characters(const std::string& text, const Lines& lines, const Source& source) {
    if (const std::size_t bad = find_invalid_utf8(text); bad != std::string::npos)
        fail_at(lines.place_of_byte(source, bad),
                fmt::format("byte 0x{:02x} is not UTF-8; save the file as UTF-8",
                            static_cast<unsigned char>(text[bad])));
    bool in_indent = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') {
            in_indent = true;
            continue;
        }
        if (c == '\t' && in_indent)
            fail_at(lines.place_of_byte(source, i), "a tab in the indentation; use spaces");
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F)
            fail_at(lines.place_of_byte(source, i),
                    fmt::format("control character 0x{:02x}", static_cast<unsigned char>(c)));
        if (c != ' ') in_indent = false;
    }
}

// Without byte order mark, and with '\n' as the end of every line.
std::string normalized(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') result += text[i];
    return result;
}

}  // namespace

std::string to_string(const ConfigPlace& place) {
    if (!place.source) return "config";
    if (place.line == 0) return place.source->name;
    return fmt::format("{}:{}:{}", place.source->name, place.line, place.column);
}

const ConfigNode::Entry* ConfigNode::find(std::string_view key) const {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return found == entries.end() ? nullptr : &*found;
}

ConfigNode parse_config_tree(std::string_view bytes, Source source) {
    if (bytes.size() > largest_text)
        fail_at({source}, fmt::format("{} bytes are too many for a config; at most {}",
                                      bytes.size(), largest_text));
    const std::string text = normalized(bytes);
    const Lines lines(text);
    check_characters(text, lines, source);
    TreeBuilder builder(source, lines);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {}
    } catch (const YAML::Exception& error) {
        const ConfigPlace place = lines.place(source, error.mark.line, error.mark.column);
        const bool unquoted_variable = lines.line(place.line).find("${") != std::string_view::npos;
        fail_at(place, fmt::format("not valid YAML: {}{}", shown(error.msg),
                                   unquoted_variable
                                       ? "; inside [ ] and { } a text with ${NAME} needs quotes"
                                       : ""));
    }
    return builder.take();
}

std::string shown(std::string_view text, std::size_t longest) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        if (result.size() >= longest && (c & 0xC0) != 0x80) return result + "…";
        if (c == '\n')
            result += "\\n";
        else if (c < 0x20 || c == 0x7F)
            result += fmt::format("\\x{:02x}", c);
        else
            result += text[i];
    }
    return result;
}

std::size_t find_invalid_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i);
        std::size_t length = 1;
        unsigned low = 0x80, high = 0xBF;  // allowed second byte; RFC 3629, section 4
        if (first >= 0x80) {
            if (first < 0xC2 || first > 0xF4) return i;
            length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
            if (first == 0xE0) low = 0xA0;
            if (first == 0xED) high = 0x9F;
            if (first == 0xF0) low = 0x90;
            if (first == 0xF4) high = 0x8F;
        }
        for (std::size_t k = 1; k < length; ++k) {
            const unsigned next = byte(i + k);
            if (next < (k == 1 ? low : 0x80u) || next > (k == 1 ? high : 0xBFu)) return i;
        }
        i += length;
    }
    return std::string_view::npos;
}

}  // namespace ralimp
