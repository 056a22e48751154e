// libjpeg reports errors by longjmp, which must not pass over a destructor. Each step below that
// calls libjpeg is a function of its own in which every variable is trivial; what owns memory lives
// in its caller.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

// These need the ones above.
#include <jerror.h>
#include <jpeglib.h>

#include "core/error.h"
#include "data/image_codecs.h"

namespace ralimp {
namespace {

// Real progressive files have about ten scans; thousands of empty ones only burn time.
constexpr int most_scans = 500;

struct Reader {
    jpeg_decompress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf jump;
    char message[JMSG_LENGTH_MAX] = "";
    bool damaged = false;

    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { jpeg_destroy_decompress(&jpeg); }
};

Reader& reader_of(j_common_ptr jpeg) { return *static_cast<Reader*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
    Reader& reader = reader_of(jpeg);
    jpeg->err->format_message(jpeg, reader.message);
    std::longjmp(reader.jump, 1);
}

// Called for warnings (level -1) and traces. libjpeg goes on after a warning and fills what is
// missing with grey; that is no picture to train on. Stray bytes between segments are harmless.
void on_message(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level >= 0 || code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM ||
        code == JWRN_TOO_MUCH_DATA)
        return;
    Reader& reader = reader_of(jpeg);
    if (!reader.damaged) jpeg->err->format_message(jpeg, reader.message);
    reader.damaged = true;
}

void on_text(j_common_ptr) {}

void on_progress(j_common_ptr jpeg) {
    Reader& reader = reader_of(jpeg);
    if (reader.jpeg.input_scan_number <= most_scans) return;
    std::snprintf(reader.message, sizeof reader.message, "it has more than %d scans", most_scans);
    std::longjmp(reader.jump, 1);
}

bool read_header(Reader& reader, const uint8_t* bytes, unsigned long size) {
    reader.jpeg.err = jpeg_std_error(&reader.errors);
    reader.jpeg.client_data = &reader;
    reader.errors.error_exit = on_error;
    reader.errors.emit_message = on_message;
    reader.errors.output_message = on_text;
    if (setjmp(reader.jump)) return false;
    jpeg_create_decompress(&reader.jpeg);
    reader.progress.progress_monitor = on_progress;
    reader.jpeg.progress = &reader.progress;
    jpeg_mem_src(&reader.jpeg, bytes, size);
    jpeg_read_header(&reader.jpeg, TRUE);
    return !reader.damaged;
}

bool read_rows(Reader& reader, uint8_t* out, std::size_t row_bytes) {
    if (setjmp(reader.jump)) return false;
    jpeg_start_decompress(&reader.jpeg);
    while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
        JSAMPROW row = out + reader.jpeg.output_scanline * row_bytes;
        jpeg_read_scanlines(&reader.jpeg, &row, 1);
    }
    jpeg_finish_decompress(&reader.jpeg);
    return !reader.damaged;
}

}  // namespace

Samples decode_jpeg(std::span<const uint8_t> file, const std::string& name) {
    Reader reader;
    const auto damaged = [&] {
        fail_with(ExitCode::bad_input, "{}: cannot be read as JPEG: {}", name, reader.message);
    };
    if (!read_header(reader, file.data(), file.size())) damaged();
    check_picture_size(reader.jpeg.image_height, reader.jpeg.image_width, name);
    // Its few bytes can stand for any number of pixels.
    if (reader.jpeg.arith_code)
        fail_with(ExitCode::bad_input,
                  "{}: is a JPEG with arithmetic coding, which hardly any program reads; save it "
                  "with Huffman coding",
                  name);
    // A block of 8 x 8 samples takes at least a bit, and a sample of the coarsest component stands
    // for at most 4 x 4 pixels.
    if (int64_t{reader.jpeg.image_height} * reader.jpeg.image_width >
        8192 * static_cast<int64_t>(file.size()))
        fail_with(ExitCode::bad_input,
                  "{}: cannot be read as JPEG: {} bytes cannot hold the {} x {} pixels it claims",
                  name, file.size(), reader.jpeg.image_width, reader.jpeg.image_height);
    switch (reader.jpeg.jpeg_color_space) {
        case JCS_GRAYSCALE:
            reader.jpeg.out_color_space = JCS_GRAYSCALE;
            break;
        case JCS_YCbCr:
        case JCS_RGB:
            reader.jpeg.out_color_space = JCS_RGB;
            break;
        case JCS_CMYK:
        case JCS_YCCK:
            fail_with(ExitCode::bad_input,
                      "{}: is a JPEG in CMYK, for printing; convert it to RGB first", name);
        default:
            fail_with(ExitCode::bad_input,
                      "{}: is a JPEG with {} channels of unknown meaning; convert it to RGB first",
                      name, reader.jpeg.num_components);
    }
    const int channels = reader.jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    Samples samples{reader.jpeg.image_height, reader.jpeg.image_width, channels, 8, {}};
    samples.bytes.resize(static_cast<std::size_t>(samples.height * samples.row_bytes()));
    if (!read_rows(reader, samples.bytes.data(), static_cast<std::size_t>(samples.row_bytes())))
        damaged();
    return samples;
}

}  // namespace ralimp
