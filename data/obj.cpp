// Wavefront OBJ, after the appendix B1 of the Advanced Visualizer manual (1995).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "data/mesh.h"

namespace ralimp {
namespace {

constexpr int64_t absent = -1;

// What may stand in a file and says nothing about the surface.
constexpr std::string_view passed_over[] = {
    "o", "g",   "s",     "mg", "usemtl",   "mtllib",   "usemap",     "maplib",   "l",
    "p", "lod", "bevel", "vp", "c_interp", "d_interp", "shadow_obj", "trace_obj"};

// One statement after another: a line, or several that end in a backslash.
class Statements {
public:
    Statements(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

    // False at the end. Words are separated by spaces and tabs; a comment is none.
    bool next(std::vector<std::string_view>& words) {
        words.clear();
        while (words.empty() && !rest_.empty()) {
            line_ = next_line_;
            while (add_line(words)) {}
        }
        return !words.empty();
    }

    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
        fail_with(ExitCode::bad_input, "{}:{}: {}", name_, line_,
                  fmt::format(format, std::forward<Args>(args)...));
    }

private:
    // True when the line goes on in the next one.
    bool add_line(std::vector<std::string_view>& words) {
        const std::size_t length = std::min(rest_.find('\n'), rest_.size());
        std::string_view line = rest_.substr(0, length);
        rest_.remove_prefix(std::min(length + 1, rest_.size()));
        ++next_line_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        line = line.substr(0, line.find('#'));
        const bool goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        while (true) {
            const std::size_t begin = line.find_first_not_of(" \t");
            if (begin == std::string_view::npos) break;
            const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
            words.push_back(line.substr(begin, end - begin));
            line.remove_prefix(end);
        }
        return goes_on && !rest_.empty();
    }

    std::string_view rest_;
    const std::string& name_;
    int64_t line_ = 1, next_line_ = 1;
};

struct Counts {
    int64_t vertices = 0, textures = 0, normals = 0;

    void add(std::string_view statement) {
        vertices += statement == "v";
        textures += statement == "vt";
        normals += statement == "vn";
    }
};

struct Corner {
    int64_t vertex, texture = absent, normal = absent;

    bool same_form(const Corner& other) const {
        return (texture == absent) == (other.texture == absent) &&
               (normal == absent) == (other.normal == absent);
    }
};

class Parser {
public:
    Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    Mesh parse() {
        // Faces may stand before their vertices.
        std::vector<std::string_view> words;
        for (Statements statements(text_, name_); statements.next(words);) all_.add(words[0]);
        Statements statements(text_, name_);
        if (std::max(all_.vertices, all_.normals) > std::numeric_limits<uint32_t>::max())
            fail_with(ExitCode::bad_input, "{}: more than 2^32 vertices or normals", name_);
        mesh_.vertices.reserve(static_cast<std::size_t>(all_.vertices));
        mesh_.normals.reserve(static_cast<std::size_t>(all_.normals));
        while (statements.next(words)) add(statements, words);
        if (faces_ == 0) fail_with(ExitCode::bad_input, "{}: no face (f)", name_);
        if (mesh_.triangles.empty())
            fail_with(ExitCode::bad_input, "{}: no face has three different vertices", name_);
        if (mesh_.normal_triangles.empty()) mesh_.normals.clear();
        return std::move(mesh_);
    }

private:
    void add(const Statements& at, const std::vector<std::string_view>& words) {
        const std::string_view kind = words[0];
        so_far_.add(kind);
        if (kind == "v") {
            // A weight or a colour may follow.
            mesh_.vertices.push_back(vector(at, words, {4, 5, 7, 8}));
        } else if (kind == "vn") {
            mesh_.normals.push_back(unit(vector(at, words, {4})));
        } else if (kind == "vt") {
            numbers(at, words, {2, 3, 4});
        } else if (kind == "f") {
            face(at, words);
        } else if (std::find(std::begin(passed_over), std::end(passed_over), kind) ==
                   std::end(passed_over)) {
            at.refuse("'{}' is no statement of an OBJ file of polygons", kind.substr(0, 40));
        }
    }

    std::array<double, 7> numbers(const Statements& at, const std::vector<std::string_view>& words,
                                  std::initializer_list<std::size_t> sizes) const {
        if (std::find(sizes.begin(), sizes.end(), words.size()) == sizes.end())
            at.refuse("{} numbers after {}", words.size() - 1, words[0]);
        std::array<double, 7> values{};
        for (std::size_t i = 1; i < words.size(); ++i) {
            std::string_view word = words[i];
            if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
            const char* const end = word.data() + word.size();
            const auto [stop, error] = std::from_chars(word.data(), end, values[i - 1]);
            if (error != std::errc() || stop != end || !std::isfinite(values[i - 1]))
                at.refuse("'{}' is no finite number", words[i].substr(0, 40));
        }
        return values;
    }

    Vector3 vector(const Statements& at, const std::vector<std::string_view>& words,
                   std::initializer_list<std::size_t> sizes) const {
        const auto values = numbers(at, words, sizes);
        return {values[0], values[1], values[2]};
    }

    // Counts from 1 at the start of the file, or from -1 backwards from here.
    static int64_t index(const Statements& at, std::string_view text, int64_t so_far, int64_t all,
                         const char* what) {
        int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || stop != end)
            at.refuse("'{}' is no index of a {}", text.substr(0, 40), what);
        if (value == 0) at.refuse("there is no {} 0; indices start at 1", what);
        if (value > all) at.refuse("there is no {} {}; the file has {}", what, value, all);
        if (value < -so_far)
            at.refuse("there is no {} {}; {} stand before this line", what, value, so_far);
        return value > 0 ? value - 1 : so_far + value;
    }

    Corner corner(const Statements& at, std::string_view text) const {
        const std::size_t first = text.find('/');
        Corner result{index(at, text.substr(0, first), so_far_.vertices, all_.vertices, "vertex")};
        if (first == std::string_view::npos) return result;
        const std::string_view rest = text.substr(first + 1);
        const std::size_t second = rest.find('/');
        if (const std::string_view texture = rest.substr(0, second);
            !texture.empty() || second == std::string_view::npos)
            result.texture =
                index(at, texture, so_far_.textures, all_.textures, "texture coordinate");
        if (second != std::string_view::npos)
            result.normal =
                index(at, rest.substr(second + 1), so_far_.normals, all_.normals, "normal");
        return result;
    }

    void face(const Statements& at, const std::vector<std::string_view>& words) {
        if (words.size() < 4) at.refuse("a face with {} corners", words.size() - 1);
        const Corner first = corner(at, words[1]);
        Corner before = corner(at, words[2]);
        const bool has_normals = first.normal != absent;
        if (faces_++ == 0) has_normals_ = has_normals;
        // Where some faces have none, all are taken from the triangles.
        if (has_normals_ != has_normals) {
            has_normals_ = false;
            mesh_.normal_triangles.clear();
        }
        if (!first.same_form(before)) at.refuse("corners of different forms in one face");
        for (std::size_t i = 3; i < words.size(); ++i) {
            const Corner next = corner(at, words[i]);
            if (!first.same_form(next)) at.refuse("corners of different forms in one face");
            if (first.vertex != before.vertex && before.vertex != next.vertex &&
                next.vertex != first.vertex)
                triangle(first, before, next);
            before = next;
        }
    }

    void triangle(const Corner& a, const Corner& b, const Corner& c) {
        const auto of = [](int64_t x, int64_t y, int64_t z) {
            return Triangle{static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                            static_cast<uint32_t>(z)};
        };
        mesh_.triangles.push_back(of(a.vertex, b.vertex, c.vertex));
        if (has_normals_) mesh_.normal_triangles.push_back(of(a.normal, b.normal, c.normal));
    }

    std::string_view text_;
    const std::string& name_;
    Counts all_, so_far_;
    int64_t faces_ = 0;
    bool has_normals_ = false;
    Mesh mesh_;
};

}  // namespace

Mesh parse_obj(std::string_view text, const std::string& name) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    return Parser(text, name).parse();
}

}  // namespace ralimp
