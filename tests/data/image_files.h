// PNG and JPEG files of every kind, made with libpng and libjpeg themselves, for the tests of the
// decoders.
#pragma once
#include <cstdint>
#include <vector>

namespace ralimp {

struct PngRecipe {
    int color_type = 0;  // PNG_COLOR_TYPE_…
    int bits = 8;
    bool interlaced = false;
    std::vector<uint8_t> palette = {};        // r, g, b, r, g, b, …
    std::vector<uint8_t> palette_alpha = {};  // tRNS of a palette
    int transparent_grey = -1;                // tRNS of a grey picture
};

// One value for each channel of each pixel, row by row, in 0 … 2^bits - 1.
std::vector<uint8_t> make_png(const PngRecipe& recipe, int height, int width,
                              const std::vector<int>& values);

enum class JpegKind { grey, color, color_progressive, rgb, cmyk };

// Quality 95, no chroma subsampling. Values as above, 8 bits.
std::vector<uint8_t> make_jpeg(JpegKind kind, int height, int width,
                               const std::vector<int>& values);

}  // namespace ralimp
