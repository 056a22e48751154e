// Sounds as tensors: reading and writing WAV files. Values are taken as they are stored; nothing is
// resampled or mixed.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

enum class SampleFormat { pcm8, pcm16, pcm24, pcm32, float32 };

struct Sound {
    // [samples, channels] float64, exact for every format; PCM in [-1, 1), floats as they are.
    Tensor samples;
    int64_t rate = 44100;                       // samples a second
    SampleFormat format = SampleFormat::pcm16;  // in the file it came from or goes to

    int64_t length() const { return samples.size(0); }
    int64_t channels() const { return samples.size(1); }  // 1 mono, 2 stereo
    double seconds() const { return static_cast<double>(length()) / static_cast<double>(rate); }
};

// Larger sounds are refused before memory is asked for them.
inline constexpr int64_t most_sound_values = int64_t{1} << 27;

// Reads a WAV file (RIFF; PCM of 8, 16, 24 or 32 bits or float of 32, also as "extensible"; mono or
// stereo; other chunks are skipped). Error bad_input in one line, naming the file, when it is
// missing, empty, truncated, inconsistent, of another format, without a sample, too large, or holds
// a float that is not finite.
Sound read_wav(const std::string& path);
// The same of the bytes of a file; `name` is the file's, for the Error.
Sound decode_wav(std::span<const uint8_t> file, const std::string& name);

// Writes a WAV file. PCM values are rounded to the nearest level and clamped to what the format
// holds; NaN becomes 0. Error io when it cannot be written; the old file is then untouched.
void write_wav(const std::string& path, const Sound& sound);
// The bytes of that file.
std::vector<uint8_t> encode_wav(const Sound& sound);

}  // namespace ralimp
