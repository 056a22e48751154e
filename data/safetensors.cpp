#include "data/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/file.h"

namespace ralimp {
namespace {

// Tensors are copied as they lie in memory.
static_assert(std::endian::native == std::endian::little);

using Json = nlohmann::ordered_json;

constexpr const char* metadata_name = "__metadata__";
constexpr std::size_t length_bytes = 8;
constexpr uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t alignment = 8;

constexpr std::array<std::pair<DType, const char*>, 5> types{{{DType::float64, "F64"},
                                                              {DType::float32, "F32"},
                                                              {DType::int64, "I64"},
                                                              {DType::int32, "I32"},
                                                              {DType::uint8, "U8"}}};

std::size_t bytes_of(const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.elements()) * ralimp::bytes_of(tensor.dtype());
}

std::string header_of(const std::vector<std::pair<std::string, Tensor>>& tensors,
                      const std::map<std::string, std::string>& metadata) {
    Json header = Json::object();
    if (!metadata.empty()) header[metadata_name] = metadata;
    std::size_t begin = 0;
    for (const auto& [name, tensor] : tensors) {
        check(name != metadata_name, "safetensors: a tensor cannot have the name {}", name);
        const auto type = std::find_if(types.begin(), types.end(), [&, &t = tensor](const auto& e) {
            return e.first == t.dtype();
        });
        check(type != types.end(), "safetensors: {} is {}, which is not written", name,
              name_of(tensor.dtype()));
        const std::size_t end = begin + bytes_of(tensor);
        header[name] = {
            {"dtype", type->second},
            {"shape", std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end())},
            {"data_offsets", {begin, end}}};
        begin = end;
    }
    try {
        std::string text = header.dump();
        text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
        check(text.size() <= most_header_bytes, "safetensors: a header of {} bytes; {} may be",
              text.size(), most_header_bytes);
        return text;
    } catch (const Json::type_error&) {
        fail("safetensors: a name or a text is not UTF-8");
    }
}

// A name of the file for a message: on one line and not long.
std::string shown(const std::string& name) {
    constexpr std::size_t most = 60;
    const std::string text = Json(name).dump(-1, ' ', true);
    return text.size() <= most ? text : text.substr(0, most) + "…";
}

struct Entry {
    std::optional<DType> dtype;
    std::optional<std::vector<uint64_t>> shape, offsets;
};

// Takes the header event by event, so that a hostile one is refused at the first event that has no
// place in it, and no tree is built.
class HeaderReader : public nlohmann::json_sax<Json> {
public:
    explicit HeaderReader(const std::string& file) : file_(file) {}

    std::map<std::string, Entry> entries;
    std::map<std::string, std::string> metadata;

    bool start_object(std::size_t) override {
        if (level_ == Level::before) {
            level_ = Level::names;
        } else if (level_ == Level::names) {
            level_ = name_ == metadata_name ? Level::metadata : Level::fields;
        } else {
            misplaced("an object");
        }
        return true;
    }
    bool end_object() override {
        if (level_ == Level::fields) {
            const Entry& entry = entries[name_];
            if (!entry.dtype || !entry.shape || !entry.offsets)
                refuse("tensor {} has no {}", shown(name_),
                       !entry.dtype   ? "dtype"
                       : !entry.shape ? "shape"
                                      : "data_offsets");
        }
        level_ = level_ == Level::names ? Level::after : Level::names;
        return true;
    }
    bool key(std::string& text) override {
        if (level_ == Level::names) {
            name_ = text;
            if (!names_.insert(text).second) refuse("{} stands twice in the header", shown(text));
            if (text != metadata_name) entries[text];
        } else if (level_ == Level::metadata) {
            field_ = text;
            if (metadata.count(text)) refuse("the metadata have {} twice", shown(text));
        } else {
            field_ = text;
            const Entry& entry = entries[name_];
            const bool again = (text == "dtype" && entry.dtype) ||
                               (text == "shape" && entry.shape) ||
                               (text == "data_offsets" && entry.offsets);
            if (again) refuse("tensor {} has {} twice", shown(name_), text);
            if (text != "dtype" && text != "shape" && text != "data_offsets")
                refuse("tensor {} has an unknown field {}", shown(name_), shown(text));
        }
        return true;
    }
    bool string(std::string& text) override {
        if (level_ == Level::metadata) {
            metadata[field_] = text;
        } else if (level_ == Level::fields && field_ == "dtype") {
            const auto type = std::find_if(types.begin(), types.end(),
                                           [&](const auto& e) { return text == e.second; });
            if (type == types.end())
                refuse("tensor {} has the dtype {}; F64, F32, I64, I32 and U8 can be read",
                       shown(name_), shown(text));
            entries[name_].dtype = type->first;
        } else {
            misplaced("a text");
        }
        return true;
    }
    bool start_array(std::size_t) override {
        if (level_ != Level::fields || field_ == "dtype") misplaced("a list");
        list_of(entries[name_]).emplace();
        level_ = Level::numbers;
        return true;
    }
    bool end_array() override {
        level_ = Level::fields;
        return true;
    }
    bool number_unsigned(uint64_t value) override {
        if (level_ != Level::numbers) misplaced("a number");
        std::vector<uint64_t>& list = *list_of(entries[name_]);
        const std::size_t most = field_ == "shape" ? Shape::max_dims : 2;
        if (list.size() == most)
            refuse("tensor {} has more than {} numbers in its {}", shown(name_), most, field_);
        list.push_back(value);
        return true;
    }
    bool number_integer(int64_t) override { misplaced("a negative number"); }
    bool number_float(double, const std::string&) override {
        misplaced("a number that is not whole");
    }
    bool null() override { misplaced("null"); }
    bool boolean(bool) override { misplaced("true or false"); }
    bool binary(Json::binary_t&) override { misplaced("binary data"); }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
        refuse("byte {} of the header is no JSON", position);
    }

private:
    enum class Level { before, names, metadata, fields, numbers, after };

    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
        fail_with(ExitCode::bad_input, "{}: {}", file_,
                  fmt::format(format, std::forward<Args>(args)...));
    }
    [[noreturn]] void misplaced(const char* what) const {
        switch (level_) {
            case Level::names:
                refuse("{} is {} in the header, not an object", shown(name_), what);
            case Level::metadata:
                refuse("{} of the metadata is {}, not a text", shown(field_), what);
            case Level::fields:
                refuse("tensor {} has {} as its {}", shown(name_), what, field_);
            case Level::numbers:
                refuse("tensor {} has {} in its {}", shown(name_), what, field_);
            default:
                refuse("the header is {}, not an object", what);
        }
    }
    std::optional<std::vector<uint64_t>>& list_of(Entry& entry) const {
        return field_ == "shape" ? entry.shape : entry.offsets;
    }

    const std::string& file_;
    Level level_ = Level::before;
    std::set<std::string> names_;
    std::string name_, field_;
};

class Decoder {
public:
    Decoder(std::span<const uint8_t> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    Safetensors decode() {
        const std::span<const uint8_t> header = take_header();
        HeaderReader reader(name_);
        Json::sax_parse(header.begin(), header.end(), &reader);
        check_places(reader.entries);
        Safetensors content;
        content.metadata = std::move(reader.metadata);
        for (const auto& [name, entry] : reader.entries)
            content.tensors[name] = tensor_of(name, entry);
        return content;
    }

private:
    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
        fail_with(ExitCode::bad_input, "{}: {}", name_,
                  fmt::format(format, std::forward<Args>(args)...));
    }

    // Leaves the tensors in bytes_.
    std::span<const uint8_t> take_header() {
        if (bytes_.size() < length_bytes) refuse("{} bytes are no safetensors file", bytes_.size());
        uint64_t length = 0;
        std::memcpy(&length, bytes_.data(), length_bytes);
        bytes_ = bytes_.subspan(length_bytes);
        if (length > most_header_bytes)
            refuse("a header of {} bytes, {} may be; is this a safetensors file?", length,
                   most_header_bytes);
        if (length > bytes_.size())
            refuse("a header of {} bytes in a file with {} left", length, bytes_.size());
        const std::span<const uint8_t> header = bytes_.first(length);
        bytes_ = bytes_.subspan(length);
        if (header.empty() || header[0] != '{') refuse("the header does not begin with {{");
        // The parser would take it for the end and leave what follows unread.
        if (std::find(header.begin(), header.end(), 0) != header.end())
            refuse("the header has a byte of zeros");
        return header;
    }

    // Tensors must cover the bytes, each once.
    void check_places(const std::map<std::string, Entry>& entries) const {
        std::vector<std::pair<std::array<uint64_t, 2>, const std::string*>> places;
        for (const auto& [name, entry] : entries) {
            if (entry.offsets->size() != 2)
                refuse("tensor {} has not two data_offsets", shown(name));
            places.push_back({{(*entry.offsets)[0], (*entry.offsets)[1]}, &name});
        }
        std::sort(places.begin(), places.end());
        uint64_t end = 0;
        for (const auto& [place, name] : places) {
            if (place[0] != end)
                refuse("tensor {} begins at byte {}; the one before it ends at {}", shown(*name),
                       place[0], end);
            if (place[1] < place[0] || place[1] > bytes_.size())
                refuse("tensor {} has the bytes {} to {} of {}", shown(*name), place[0], place[1],
                       bytes_.size());
            end = place[1];
        }
        if (end != bytes_.size()) refuse("{} bytes behind the last tensor", bytes_.size() - end);
    }

    Tensor tensor_of(const std::string& name, const Entry& entry) const {
        // Sizes are compared before anything is allocated. Strides are products of sizes, of the
        // others too where one of them is 0.
        const uint64_t size = (*entry.offsets)[1] - (*entry.offsets)[0];
        constexpr uint64_t most = uint64_t{1} << 62;
        uint64_t wanted = ralimp::bytes_of(*entry.dtype), product = wanted;
        for (const uint64_t axis : *entry.shape) {
            if (axis > most / product)
                refuse("tensor {} has a shape beyond any memory", shown(name));
            product *= std::max<uint64_t>(axis, 1);
            wanted *= axis;
        }
        if (wanted != size)
            refuse("tensor {} has {} bytes, its shape {}", shown(name), size, wanted);
        const Tensor tensor =
            Tensor::empty(Shape(entry.shape->begin(), entry.shape->end()), *entry.dtype);
        if (size > 0) std::memcpy(tensor.data(), bytes_.data() + (*entry.offsets)[0], size);
        return tensor;
    }

    std::span<const uint8_t> bytes_;
    const std::string& name_;
};

}  // namespace

std::vector<uint8_t> encode_safetensors(const Safetensors& content) {
    std::vector<std::pair<std::string, Tensor>> tensors(content.tensors.begin(),
                                                        content.tensors.end());
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return ralimp::bytes_of(a.second.dtype()) > ralimp::bytes_of(b.second.dtype());
    });
    const std::string header = header_of(tensors, content.metadata);
    const uint64_t length = header.size();
    std::size_t size = length_bytes + header.size();
    for (const auto& [name, tensor] : tensors) size += bytes_of(tensor);
    std::vector<uint8_t> bytes(size);
    uint8_t* at = bytes.data();
    const auto append = [&](const void* first, std::size_t count) {
        if (count > 0) std::memcpy(at, first, count);
        at += count;
    };
    append(&length, length_bytes);
    append(header.data(), header.size());
    for (const auto& [name, tensor] : tensors) {
        const Tensor values = tensor.contiguous();
        append(values.data(), bytes_of(values));
    }
    return bytes;
}

Safetensors decode_safetensors(std::span<const uint8_t> bytes, const std::string& name) {
    return Decoder(bytes, name).decode();
}

void write_safetensors(const std::string& path, const Safetensors& content) {
    write_file(path, encode_safetensors(content));
}

Safetensors read_safetensors(const std::string& path) {
    return decode_safetensors(read_file(path), path);
}

}  // namespace ralimp
