// Stanford PLY 1.0 (Turk, "The PLY polygon file format", 1994).
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/error.h"
#include "data/mesh.h"

namespace ralimp {
namespace {

struct Type {
    int64_t bytes = 0;
    enum { is_signed, is_unsigned, is_float } kind = is_float;

    bool whole() const { return kind != is_float; }
};

std::optional<Type> type_of(std::string_view word) {
    if (word == "char" || word == "int8") return Type{1, Type::is_signed};
    if (word == "uchar" || word == "uint8") return Type{1, Type::is_unsigned};
    if (word == "short" || word == "int16") return Type{2, Type::is_signed};
    if (word == "ushort" || word == "uint16") return Type{2, Type::is_unsigned};
    if (word == "int" || word == "int32") return Type{4, Type::is_signed};
    if (word == "uint" || word == "uint32") return Type{4, Type::is_unsigned};
    if (word == "float" || word == "float32") return Type{4, Type::is_float};
    if (word == "double" || word == "float64") return Type{8, Type::is_float};
    return std::nullopt;
}

struct Property {
    std::string name;
    Type type;
    std::optional<Type> count;  // of a list
};

struct Element {
    std::string name;
    int64_t count = 0;
    std::vector<Property> properties;

    // -1: there is none.
    int64_t find(std::string_view wanted) const {
        for (std::size_t i = 0; i < properties.size(); ++i)
            if (properties[i].name == wanted) return static_cast<int64_t>(i);
        return -1;
    }
};

enum class Format { ascii, little, big };

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) return words;
        const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        line.remove_prefix(end);
    }
}

class Reader {
public:
    Reader(std::span<const uint8_t> file, const std::string& name)
        : text_(reinterpret_cast<const char*>(file.data()), file.size()), name_(name) {}

    Mesh read() {
        read_header();
        for (const Element& element : elements_) check_size(element);
        for (const Element& element : elements_) {
            if (element.name == "vertex")
                read_vertices(element);
            else if (element.name == "face")
                read_faces(element);
            else
                for (int64_t row = 0; row < element.count; ++row) read_row(element);
        }
        if (format_ == Format::ascii) {
            for (std::string_view line; next_line(line);)
                if (!words_of(line).empty()) refuse("a line after the last element");
        } else if (at_ < text_.size()) {
            refuse("{} bytes after the last element", text_.size() - at_);
        }
        return finished();
    }

private:
    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
        const std::string message = fmt::format(format, std::forward<Args>(args)...);
        if (format_ == Format::ascii || in_header_)
            fail_with(ExitCode::bad_input, "{}:{}: {}", name_, line_, message);
        fail_with(ExitCode::bad_input, "{}: byte {}: {}", name_, at_, message);
    }

    // False at the end of the file.
    bool next_line(std::string_view& line) {
        if (at_ == text_.size()) return false;
        const std::string_view rest = text_.substr(at_);
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        line = rest.substr(0, length);
        if (line.ends_with('\r')) line.remove_suffix(1);
        at_ += std::min(length + 1, rest.size());
        ++line_;
        return true;
    }

    void read_header() {
        std::string_view line;
        if (!next_line(line) || line != "ply") refuse("is not a PLY file");
        bool format_known = false;
        while (true) {
            if (!next_line(line)) refuse("the header has no end_header");
            const auto words = words_of(line);
            if (words.empty()) refuse("an empty line in the header");
            if (words[0] == "end_header") break;
            if (words[0] == "comment" || words[0] == "obj_info") continue;
            if (words[0] == "format") {
                if (format_known) refuse("a second format");
                format_known = true;
                read_format(words);
            } else if (words[0] == "element") {
                add_element(words);
            } else if (words[0] == "property") {
                add_property(words);
            } else {
                refuse("'{}' has no place in a header", words[0].substr(0, 40));
            }
        }
        if (!format_known) refuse("the header has no format");
        format_ = body_format_;
        for (const char* wanted : {"vertex", "face"})
            if (std::none_of(elements_.begin(), elements_.end(),
                             [&](const Element& e) { return e.name == wanted; }))
                refuse("the header has no element {}", wanted);
        for (const Element& element : elements_)
            if (element.properties.empty()) refuse("element {} has no property", element.name);
        find_columns();
        in_header_ = false;
    }

    void read_format(const std::vector<std::string_view>& words) {
        if (words.size() != 3 || words[2] != "1.0") refuse("only the formats of PLY 1.0 are known");
        if (words[1] == "ascii")
            body_format_ = Format::ascii;
        else if (words[1] == "binary_little_endian")
            body_format_ = Format::little;
        else if (words[1] == "binary_big_endian")
            body_format_ = Format::big;
        else
            refuse("'{}' is no format of a PLY file", words[1].substr(0, 40));
    }

    void add_element(const std::vector<std::string_view>& words) {
        Element element;
        if (words.size() != 3) refuse("an element has a name and a number");
        element.name = words[1].substr(0, 40);
        const char* const end = words[2].data() + words[2].size();
        const auto [stop, error] = std::from_chars(words[2].data(), end, element.count);
        if (error != std::errc() || stop != end || element.count < 0)
            refuse("'{}' is no number of elements", words[2].substr(0, 40));
        for (const Element& other : elements_)
            if (other.name == element.name) refuse("a second element {}", element.name);
        elements_.push_back(std::move(element));
    }

    void add_property(const std::vector<std::string_view>& words) {
        if (elements_.empty()) refuse("a property before the first element");
        const auto type = [&](std::string_view word) {
            const std::optional<Type> found = type_of(word);
            if (!found) refuse("'{}' is no type of a property", word.substr(0, 40));
            return *found;
        };
        Property property;
        if (words.size() == 5 && words[1] == "list") {
            property.count = type(words[2]);
            if (!property.count->whole()) refuse("the number of a list's entries is a whole one");
            property.type = type(words[3]);
        } else if (words.size() == 3) {
            property.type = type(words[1]);
        } else {
            refuse("a property has a type and a name");
        }
        property.name = words.back().substr(0, 40);
        if (elements_.back().find(property.name) >= 0)
            refuse("a second property {} of element {}", property.name, elements_.back().name);
        elements_.back().properties.push_back(std::move(property));
    }

    // Before memory is asked for: what the header claims must fit into the file.
    void check_size(const Element& element) const {
        int64_t row = 0;
        for (const Property& property : element.properties)
            row += format_ == Format::ascii ? 2
                   : property.count         ? property.count->bytes
                                            : property.type.bytes;
        if (format_ == Format::ascii) --row;  // the last line may lack its end
        const auto left = static_cast<int64_t>(text_.size() - at_);
        if (element.count > 0 && element.count > (left + 1) / std::max<int64_t>(row, 1))
            refuse("{} bytes cannot hold {} elements {}", left, element.count, element.name);
        if (element.count > std::numeric_limits<uint32_t>::max())
            refuse("more than 2^32 elements {}", element.name);
    }

    // The numbers of one row; the entries of a list stand in list_, those of the one that is
    // wanted last. Whole numbers of 32 bits are exact.
    void read_row(const Element& element, int64_t wanted_list = -1) {
        if (format_ == Format::ascii) {
            std::string_view line;
            do {
                if (!next_line(line)) {
                    ++line_;
                    refuse("the file ends before all elements {} are there", element.name);
                }
                words_ = words_of(line);
            } while (words_.empty());
            word_ = 0;
        }
        row_.assign(element.properties.size(), 0);
        for (std::size_t i = 0; i < element.properties.size(); ++i) {
            const Property& property = element.properties[i];
            if (!property.count) {
                row_[i] = number(property.type, property.name);
                continue;
            }
            const double count = number(*property.count, property.name);
            const double left = format_ == Format::ascii
                                    ? static_cast<double>(words_.size() - word_)
                                    : static_cast<double>(text_.size() - at_) /
                                          static_cast<double>(property.type.bytes);
            if (count < 0 || count > left)
                refuse("a list {} of {} entries does not fit", property.name, count);
            const bool wanted = static_cast<int64_t>(i) == wanted_list;
            if (wanted) list_.clear();
            for (int64_t k = 0; k < static_cast<int64_t>(count); ++k) {
                const double value = number(property.type, property.name);
                if (wanted) list_.push_back(value);
            }
        }
        if (format_ == Format::ascii && word_ < words_.size())
            refuse("{} numbers more than an element {} has", words_.size() - word_, element.name);
    }

    double number(const Type& type, const std::string& property) {
        return format_ == Format::ascii ? text_number(type, property) : binary_number(type);
    }

    double text_number(const Type& type, const std::string& property) {
        if (word_ == words_.size()) refuse("no number for {}", property);
        std::string_view word = words_[word_++];
        const std::string_view shown = word.substr(0, 40);
        if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
        const char* const end = word.data() + word.size();
        if (!type.whole()) {
            double value = 0;
            const auto [stop, error] = std::from_chars(word.data(), end, value);
            if (error != std::errc() || stop != end) refuse("'{}' is no number", shown);
            return value;
        }
        int64_t value = 0;
        const auto [stop, error] = std::from_chars(word.data(), end, value);
        const int64_t levels = int64_t{1} << 8 * type.bytes;
        const int64_t low = type.kind == Type::is_signed ? -levels / 2 : 0;
        if (error != std::errc() || stop != end || value < low || value >= low + levels)
            refuse("'{}' is no whole number of {} bits for {}", shown, 8 * type.bytes, property);
        return static_cast<double>(value);
    }

    double binary_number(const Type& type) {
        const auto count = static_cast<std::size_t>(type.bytes);
        if (text_.size() - at_ < count) refuse("the file ends too early");
        uint64_t bits = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto byte = static_cast<uint8_t>(text_[at_ + i]);
            bits |= uint64_t{byte} << 8 * (format_ == Format::little ? i : count - 1 - i);
        }
        at_ += count;
        if (type.kind == Type::is_float)
            return count == 4 ? double{std::bit_cast<float>(static_cast<uint32_t>(bits))}
                              : std::bit_cast<double>(bits);
        if (type.kind == Type::is_unsigned) return static_cast<double>(bits);
        const int unused = 64 - 8 * static_cast<int>(count);
        return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
    }

    std::array<std::size_t, 3> columns(const Element& element,
                                       const std::array<const char*, 3>& names) const {
        std::array<std::size_t, 3> found{};
        for (std::size_t k = 0; k < 3; ++k) {
            const int64_t at = element.find(names[k]);
            if (at < 0 || element.properties[static_cast<std::size_t>(at)].count)
                refuse("element vertex has no number {}", names[k]);
            found[k] = static_cast<std::size_t>(at);
        }
        return found;
    }

    Vector3 finite_vector(const std::array<std::size_t, 3>& columns, const char* what) const {
        const Vector3 vector{row_[columns[0]], row_[columns[1]], row_[columns[2]]};
        for (const double x : vector)
            if (!std::isfinite(x)) refuse("a coordinate of a {} is {}", what, x);
        return vector;
    }

    const Element& element_of(std::string_view name) const {
        return *std::find_if(elements_.begin(), elements_.end(),
                             [&](const Element& e) { return e.name == name; });
    }

    // Where in a row stands what is wanted.
    void find_columns() {
        const Element& vertex = element_of("vertex");
        places_ = columns(vertex, {"x", "y", "z"});
        has_normals_ = vertex.find("nx") >= 0 || vertex.find("ny") >= 0 || vertex.find("nz") >= 0;
        if (has_normals_) normals_ = columns(vertex, {"nx", "ny", "nz"});
        const Element& face = element_of("face");
        corners_ = face.find("vertex_indices");
        if (corners_ < 0) corners_ = face.find("vertex_index");
        const auto corners = static_cast<std::size_t>(corners_);
        if (corners_ < 0 || !face.properties[corners].count ||
            !face.properties[corners].type.whole())
            refuse("element face has no list of whole numbers vertex_indices");
    }

    void read_vertices(const Element& element) {
        mesh_.vertices.reserve(static_cast<std::size_t>(element.count));
        if (has_normals_) mesh_.normals.reserve(static_cast<std::size_t>(element.count));
        for (int64_t row = 0; row < element.count; ++row) {
            read_row(element);
            mesh_.vertices.push_back(finite_vector(places_, "vertex"));
            if (has_normals_) mesh_.normals.push_back(unit(finite_vector(normals_, "normal")));
        }
    }

    void read_faces(const Element& element) {
        const int64_t vertices = element_of("vertex").count;
        mesh_.triangles.reserve(static_cast<std::size_t>(element.count));
        for (int64_t row = 0; row < element.count; ++row) {
            read_row(element, corners_);
            if (list_.size() < 3) refuse("a face with {} corners", list_.size());
            for (const double index : list_)
                if (index < 0 || index >= static_cast<double>(vertices))
                    refuse("there is no vertex {}; the file has {}", index, vertices);
            for (std::size_t i = 2; i < list_.size(); ++i) {
                const Triangle triangle{static_cast<uint32_t>(list_[0]),
                                        static_cast<uint32_t>(list_[i - 1]),
                                        static_cast<uint32_t>(list_[i])};
                if (triangle[0] != triangle[1] && triangle[1] != triangle[2] &&
                    triangle[2] != triangle[0])
                    mesh_.triangles.push_back(triangle);
            }
        }
    }

    Mesh finished() {
        if (mesh_.triangles.empty())
            fail_with(ExitCode::bad_input, "{}: no face has three different vertices", name_);
        if (has_normals_) mesh_.normal_triangles = mesh_.triangles;
        return std::move(mesh_);
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    int64_t line_ = 0;
    bool in_header_ = true;
    Format format_ = Format::ascii;       // in which errors are placed: the header is text
    Format body_format_ = Format::ascii;  // of what follows the header
    std::vector<Element> elements_;
    std::vector<std::string_view> words_;  // of a line of text, and the next one of them
    std::size_t word_ = 0;
    std::vector<double> row_, list_;
    std::array<std::size_t, 3> places_{}, normals_{};
    int64_t corners_ = -1;
    bool has_normals_ = false;
    Mesh mesh_;
};

}  // namespace

Mesh parse_ply(std::span<const uint8_t> file, const std::string& name) {
    return Reader(file, name).read();
}

}  // namespace ralimp
