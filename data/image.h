// Pictures as tensors: reading PNG and JPEG, writing PNG, area averaging, PSNR. Values are taken as
// they are stored: no gamma, no colour profile, no orientation tag is applied.
#pragma once
#include <cstdint>
#include <string>

#include "core/tensor.h"

namespace ralimp {

struct Image {
    Tensor pixels;  // [height, width, channels] float32 in [0, 1]; exact for 8 and for 16 bits
    int bits = 8;   // per channel, in the file it came from or goes to: 8 or 16

    int64_t height() const { return pixels.size(0); }
    int64_t width() const { return pixels.size(1); }
    // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
    int64_t channels() const { return pixels.size(2); }
};

// Larger pictures are refused before memory is asked for: a small file can claim any size.
inline constexpr int64_t most_pixels = int64_t{1} << 27;

// Reads a PNG (any colour type and depth, interlaced or not) or a JPEG (grey or colour); its
// content decides which, not its name. Palettes become RGB, transparent colours an alpha channel,
// fewer than 8 bits become 8. Error bad_input in one line, naming the file, when it is missing,
// empty, truncated, damaged, too large, another kind of file, or a CMYK JPEG.
Image read_image(const std::string& path);

// Writes a PNG of 8 or 16 bits per channel. Values are rounded to the nearest level, clamped to
// [0, 1]; NaN becomes 0. Error io when it cannot be written; the old file is then untouched.
void write_png(const std::string& path, const Image& image);

// Mean over the area that each new pixel covers, channels apart (blend_alpha first if there is
// alpha). Only shrinks: Error when height or width is larger than the image's.
Image resize_area(const Image& image, int64_t height, int64_t width);

// The picture in front of a plain grey background in [0, 1], without alpha channel; an image that
// has none is returned as it is.
Image blend_alpha(const Image& image, double background);

// 10 log10(data_range² / mean squared difference) in dB, of two tensors of one shape. Equal
// tensors give psnr_cap instead of infinity, and nothing gives more; NaN values give NaN.
// data_range is the span of valid values: 1 for [0, 1], 2 for [-1, 1].
inline constexpr double psnr_cap = 200;
double psnr(const Tensor& a, const Tensor& b, double data_range);

}  // namespace ralimp
