// The bytes of a PNG or JPEG file to samples and back; used by image.cpp only.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ralimp {

// Whole-number samples, row by row, channels together; 16-bit ones in the order of this machine.
struct Samples {
    int64_t height = 0, width = 0;
    int channels = 0;
    int bits = 0;  // 8 or 16
    std::vector<uint8_t> bytes;

    int64_t row_bytes() const { return width * channels * (bits / 8); }
};

// `name` is the file's, for the Error bad_input.
Samples decode_png(std::span<const uint8_t> file, const std::string& name);
Samples decode_jpeg(std::span<const uint8_t> file, const std::string& name);
std::vector<uint8_t> encode_png(const Samples& samples);

// Error bad_input when a picture is empty or has more than most_pixels.
void check_picture_size(int64_t height, int64_t width, const std::string& name);

}  // namespace ralimp
