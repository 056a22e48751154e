#include "tests/data/image_files.h"

#include <png.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// Needs the header above it.
#include <jpeglib.h>

namespace ralimp {
namespace {

void fail_png(png_structp, png_const_charp text) { throw std::runtime_error(text); }

void append(png_structp png, png_bytep data, std::size_t count) {
    auto* bytes = static_cast<std::vector<uint8_t>*>(png_get_io_ptr(png));
    bytes->insert(bytes->end(), data, data + count);
}

// Samples of fewer than 8 bits are packed, the first one highest; 16-bit ones are big-endian.
std::vector<uint8_t> pack_row(const int* values, int count, int bits) {
    std::vector<uint8_t> row((static_cast<std::size_t>(count) * bits + 7) / 8);
    for (int i = 0; i < count; ++i) {
        const auto value = static_cast<unsigned>(values[i]);
        if (bits == 16) {
            row[2 * i] = static_cast<uint8_t>(value >> 8);
            row[2 * i + 1] = static_cast<uint8_t>(value & 255);
        } else {
            const int bit = i * bits;
            row[bit / 8] = static_cast<uint8_t>(row[bit / 8] | value << (8 - bits - bit % 8));
        }
    }
    return row;
}

}  // namespace

std::vector<uint8_t> make_png(const PngRecipe& recipe, int height, int width,
                              const std::vector<int>& values) {
    std::vector<uint8_t> bytes;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, fail_png, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &bytes, append, nullptr);
    png_set_IHDR(png, info, width, height, recipe.bits, recipe.color_type,
                 recipe.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!recipe.palette.empty()) {
        std::vector<png_color> palette;
        for (std::size_t i = 0; i + 2 < recipe.palette.size(); i += 3)
            palette.push_back({recipe.palette[i], recipe.palette[i + 1], recipe.palette[i + 2]});
        png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    }
    if (!recipe.palette_alpha.empty())
        png_set_tRNS(png, info, recipe.palette_alpha.data(),
                     static_cast<int>(recipe.palette_alpha.size()), nullptr);
    if (recipe.transparent_grey >= 0) {
        png_color_16 color{};
        color.gray = static_cast<png_uint_16>(recipe.transparent_grey);
        png_set_tRNS(png, info, nullptr, 0, &color);
    }
    png_write_info(png, info);
    const int count = width * png_get_channels(png, info);
    if (values.size() != static_cast<std::size_t>(count * height))
        throw std::runtime_error("make_png: wrong number of values");
    const int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; ++pass)
        for (int i = 0; i < height; ++i)
            png_write_row(png, pack_row(values.data() + i * count, count, recipe.bits).data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return bytes;
}

std::vector<uint8_t> make_jpeg(JpegKind kind, int height, int width,
                               const std::vector<int>& values) {
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &memory, &size);
    jpeg.image_width = static_cast<JDIMENSION>(width);
    jpeg.image_height = static_cast<JDIMENSION>(height);
    const int channels = kind == JpegKind::grey ? 1 : kind == JpegKind::cmyk ? 4 : 3;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    if (kind == JpegKind::rgb) jpeg_set_colorspace(&jpeg, JCS_RGB);
    if (kind == JpegKind::color_progressive) jpeg_simple_progression(&jpeg);
    for (int i = 0; i < channels; ++i)
        jpeg.comp_info[i].h_samp_factor = jpeg.comp_info[i].v_samp_factor = 1;
    jpeg_set_quality(&jpeg, 95, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    std::vector<uint8_t> row(static_cast<std::size_t>(width * channels));
    for (int i = 0; i < height; ++i) {
        for (std::size_t j = 0; j < row.size(); ++j)
            row[j] = static_cast<uint8_t>(values[static_cast<std::size_t>(i) * row.size() + j]);
        JSAMPROW pointer = row.data();
        jpeg_write_scanlines(&jpeg, &pointer, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::vector<uint8_t> bytes(memory, memory + size);
    std::free(memory);
    return bytes;
}

}  // namespace ralimp
