// libpng reports errors by longjmp, which must not pass over a destructor. Each step below that
// calls libpng is a function of its own in which every variable is trivial; what owns memory lives
// in its caller.
#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "core/error.h"
#include "data/image_codecs.h"

namespace ralimp {
namespace {

struct Message {
    char text[160] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
    auto* message = static_cast<Message*>(png_get_error_ptr(png));
    std::snprintf(message->text, sizeof message->text, "%s", text);
    png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

struct Reader {
    std::span<const uint8_t> rest;
    Message message;
    png_structp png = nullptr;
    png_infop info = nullptr;
    png_uint_32 height = 0, width = 0;
    int channels = 0, bits = 0;

    explicit Reader(std::span<const uint8_t> file) : rest(file) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
    auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
    if (reader->rest.size() < count) png_error(png, "the file ends too early");
    std::memcpy(out, reader->rest.data(), count);
    reader->rest = reader->rest.subspan(count);
}

bool read_header(Reader& reader) {
    reader.png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader.message, on_error, on_warning);
    if (!reader.png) return false;
    if (setjmp(png_jmpbuf(reader.png))) return false;
    reader.info = png_create_info_struct(reader.png);
    if (!reader.info) png_error(reader.png, "out of memory");
    png_set_read_fn(reader.png, &reader, read_bytes);
    // The caller judges the size, by the number of pixels.
    png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(reader.png, reader.info);
    reader.width = png_get_image_width(reader.png, reader.info);
    reader.height = png_get_image_height(reader.png, reader.info);
    reader.channels = png_get_channels(reader.png, reader.info);
    reader.bits = png_get_bit_depth(reader.png, reader.info);
    return true;
}

bool set_conversions(Reader& reader) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_set_expand(reader.png);
    if constexpr (std::endian::native == std::endian::little) png_set_swap(reader.png);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    reader.channels = png_get_channels(reader.png, reader.info);
    reader.bits = png_get_bit_depth(reader.png, reader.info);
    return true;
}

bool read_rows(Reader& reader, png_bytepp rows) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_read_image(reader.png, rows);
    png_read_end(reader.png, nullptr);  // checks that the file is complete
    return true;
}

struct Writer {
    std::vector<uint8_t> bytes;
    Message message;
    png_structp png = nullptr;
    png_infop info = nullptr;

    Writer() = default;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { png_destroy_write_struct(&png, &info); }
};

// No exception may pass through libpng.
bool append(std::vector<uint8_t>& bytes, png_bytep data, std::size_t count) noexcept {
    try {
        bytes.insert(bytes.end(), data, data + count);
        return true;
    } catch (...) {
        return false;
    }
}

void write_bytes(png_structp png, png_bytep data, std::size_t count) {
    if (!append(static_cast<Writer*>(png_get_io_ptr(png))->bytes, data, count))
        png_error(png, "out of memory");
}

void flush_nothing(png_structp) {}

bool write_picture(Writer& writer, const Samples& samples, png_bytepp rows) {
    constexpr int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                   PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    writer.png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.message, on_error, on_warning);
    if (!writer.png) return false;
    if (setjmp(png_jmpbuf(writer.png))) return false;
    writer.info = png_create_info_struct(writer.png);
    if (!writer.info) png_error(writer.png, "out of memory");
    png_set_write_fn(writer.png, &writer, write_bytes, flush_nothing);
    png_set_user_limits(writer.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(samples.width),
                 static_cast<png_uint_32>(samples.height), samples.bits,
                 color_types[samples.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer.png, writer.info);
    if constexpr (std::endian::native == std::endian::little) png_set_swap(writer.png);
    png_write_image(writer.png, rows);
    png_write_end(writer.png, writer.info);
    return true;
}

std::vector<png_bytep> row_pointers(const Samples& samples) {
    std::vector<png_bytep> rows(static_cast<std::size_t>(samples.height));
    // libpng's rows are not const, though it does not change what it writes.
    auto* first = const_cast<png_bytep>(samples.bytes.data());
    for (int64_t i = 0; i < samples.height; ++i)
        rows[static_cast<std::size_t>(i)] = first + i * samples.row_bytes();
    return rows;
}

}  // namespace

Samples decode_png(std::span<const uint8_t> file, const std::string& name) {
    Reader reader(file);
    const auto damaged = [&] {
        fail_with(ExitCode::bad_input, "{}: cannot be read as PNG: {}", name,
                  reader.message.text[0] ? reader.message.text : "out of memory");
    };
    if (!read_header(reader)) damaged();
    check_picture_size(reader.height, reader.width, name);
    // Deflate shrinks by a factor of 1032 at best.
    const int64_t bits = int64_t{reader.height} * reader.width * reader.channels * reader.bits;
    if (bits / 8 > 1032 * static_cast<int64_t>(file.size()))
        fail_with(ExitCode::bad_input,
                  "{}: cannot be read as PNG: {} bytes cannot hold the {} x {} pixels it claims",
                  name, file.size(), reader.width, reader.height);
    if (!set_conversions(reader)) damaged();

    Samples samples{reader.height, reader.width, reader.channels, reader.bits, {}};
    samples.bytes.resize(static_cast<std::size_t>(samples.height * samples.row_bytes()));
    std::vector<png_bytep> rows = row_pointers(samples);
    if (!read_rows(reader, rows.data())) damaged();
    return samples;
}

std::vector<uint8_t> encode_png(const Samples& samples) {
    Writer writer;
    std::vector<png_bytep> rows = row_pointers(samples);
    check(write_picture(writer, samples, rows.data()), "write_png: {}",
          writer.message.text[0] ? writer.message.text : "out of memory");
    return std::move(writer.bytes);
}

}  // namespace ralimp
