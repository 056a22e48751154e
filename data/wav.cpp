#include "data/wav.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace ralimp {
namespace {

// Format tags of the "fmt " chunk.
constexpr uint32_t tag_pcm = 1, tag_float = 3, tag_extensible = 0xFFFE;

int bytes_of_format(SampleFormat format) {
    switch (format) {
        case SampleFormat::pcm8:
            return 1;
        case SampleFormat::pcm16:
            return 2;
        case SampleFormat::pcm24:
            return 3;
        case SampleFormat::pcm32:
        case SampleFormat::float32:
            break;
    }
    return 4;
}

// Little-endian, whatever this machine is.
uint32_t whole(const uint8_t* bytes, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i) value |= uint32_t{bytes[i]} << 8 * i;
    return value;
}
void append(std::vector<uint8_t>& bytes, uint32_t value, int count) {
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
}
void append(std::vector<uint8_t>& bytes, std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
}

// Half the span of PCM levels: full scale.
double full_scale(SampleFormat format) { return std::ldexp(1.0, 8 * bytes_of_format(format) - 1); }

double decode(const uint8_t* bytes, SampleFormat format) {
    const int count = bytes_of_format(format);
    const uint32_t bits = whole(bytes, count);
    if (format == SampleFormat::float32) return double{std::bit_cast<float>(bits)};
    if (format == SampleFormat::pcm8) return (static_cast<double>(bits) - 128) / 128;
    const int unused = 32 - 8 * count;
    const auto level = static_cast<int32_t>(bits << unused) >> unused;  // carries the sign
    return level / full_scale(format);
}

void encode(std::vector<uint8_t>& bytes, double value, SampleFormat format) {
    if (format == SampleFormat::float32)
        return append(bytes, std::bit_cast<uint32_t>(static_cast<float>(value)), 4);
    const double scale = full_scale(format);
    const double level =
        std::isnan(value) ? 0 : std::clamp(std::round(value * scale), -scale, scale - 1);
    const auto shifted = static_cast<int64_t>(level) + (format == SampleFormat::pcm8 ? 128 : 0);
    append(bytes, static_cast<uint32_t>(shifted), bytes_of_format(format));
}

struct Format {
    int64_t channels = 0, rate = 0;
    SampleFormat samples = SampleFormat::pcm16;
};

class WavReader {
public:
    WavReader(std::span<const uint8_t> file, const std::string& name) : file_(file), name_(name) {}

    Sound read() {
        if (file_.size() < 12 || text(0) != "RIFF" || text(8) != "WAVE")
            fail_with(ExitCode::bad_input, "{}: is not a WAV file{}", name_,
                      file_.size() >= 4 && (text(0) == "RIFX" || text(0) == "RF64")
                          ? ", but its relative " + text(0) + "; convert it to plain WAV first"
                          : "");
        std::size_t at = 12;
        bool known = false;
        Format format;
        while (at + 8 <= file_.size()) {
            const std::string id = text(at);
            const std::size_t size = whole(file_.data() + at + 4, 4), left = file_.size() - at - 8;
            if (size > left)
                damaged("the chunk '{}' claims {} bytes, {} are there", printable(id), size, left);
            const auto chunk = file_.subspan(at + 8, size);
            if (id == "fmt ") {
                if (known) damaged("it has two formats");
                format = read_format(chunk);
                known = true;
            } else if (id == "data") {
                if (!known) damaged("its samples come before their format");
                return samples(chunk, format);
            }
            at += 8 + size + size % 2;
        }
        damaged("it ends without a chunk '{}'", known ? "data" : "fmt ");
    }

private:
    template <class... Args>
    [[noreturn]] void damaged(fmt::format_string<Args...> format, Args&&... args) const {
        fail_with(ExitCode::bad_input, "{}: cannot be read as WAV: {}", name_,
                  fmt::format(format, std::forward<Args>(args)...));
    }
    std::string text(std::size_t at) const {
        return {reinterpret_cast<const char*>(file_.data()) + at, 4};
    }
    static std::string printable(std::string id) {
        for (char& c : id)
            if (c < ' ' || c > '~') c = '?';
        return id;
    }

    Format read_format(std::span<const uint8_t> chunk) const {
        if (chunk.size() < 16) damaged("its format has {} bytes, not 16 or more", chunk.size());
        const auto number = [&](std::size_t at, int count) {
            return whole(chunk.data() + at, count);
        };
        uint32_t tag = number(0, 2);
        const uint32_t channels = number(2, 2), rate = number(4, 4), frame = number(12, 2),
                       bits = number(14, 2);
        if (tag == tag_extensible) {
            if (chunk.size() < 40)
                damaged("its extensible format has {} bytes, not 40", chunk.size());
            if (const uint32_t valid = number(18, 2); valid != bits)
                damaged("{} of {} bits of a sample count; all must", valid, bits);
            tag = number(24, 2);
        }
        Format format{channels, rate, {}};
        if (tag == tag_float && bits == 32)
            format.samples = SampleFormat::float32;
        else if (tag == tag_pcm && bits == 8)
            format.samples = SampleFormat::pcm8;
        else if (tag == tag_pcm && bits == 16)
            format.samples = SampleFormat::pcm16;
        else if (tag == tag_pcm && bits == 24)
            format.samples = SampleFormat::pcm24;
        else if (tag == tag_pcm && bits == 32)
            format.samples = SampleFormat::pcm32;
        else
            fail_with(ExitCode::bad_input,
                      "{}: has {} of {} bits; PCM of 8, 16, 24 or 32 bits or float of 32 can be "
                      "read, so convert it first",
                      name_,
                      tag == tag_pcm     ? "PCM"
                      : tag == tag_float ? "float"
                                         : fmt::format("format {}", tag),
                      bits);
        if (channels != 1 && channels != 2)
            fail_with(ExitCode::bad_input, "{}: has {} channels; mono and stereo can be read",
                      name_, channels);
        if (rate == 0 || rate > std::numeric_limits<int32_t>::max())
            damaged("its rate is {} samples a second", rate);
        if (frame != channels * bits / 8)
            damaged("a frame of {} bytes does not hold {} samples of {} bits", frame, channels,
                    bits);
        return format;
    }

    Sound samples(std::span<const uint8_t> chunk, const Format& format) const {
        const auto bytes = static_cast<std::size_t>(bytes_of_format(format.samples));
        const std::size_t frame = bytes * static_cast<std::size_t>(format.channels);
        if (chunk.empty()) fail_with(ExitCode::bad_input, "{}: has no samples", name_);
        if (chunk.size() % frame != 0)
            damaged("{} bytes of samples are no whole number of frames of {}", chunk.size(), frame);
        const std::size_t count = chunk.size() / bytes;
        if (count > static_cast<std::size_t>(most_sound_values))
            fail_with(ExitCode::bad_input,
                      "{}: has {} values, more than the {} million that are accepted; cut it first",
                      name_, count, most_sound_values / 1000000);
        const auto length = static_cast<int64_t>(chunk.size() / frame);
        Sound sound{Tensor::empty({length, format.channels}, DType::float64), format.rate,
                    format.samples};
        auto* out = sound.samples.data<double>();
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = decode(chunk.data() + i * bytes, format.samples);
            if (!std::isfinite(out[i]))
                damaged("value {} of channel {} is not finite",
                        static_cast<int64_t>(i) / format.channels,
                        static_cast<int64_t>(i) % format.channels);
        }
        return sound;
    }

    std::span<const uint8_t> file_;
    const std::string& name_;
};

}  // namespace

Sound decode_wav(std::span<const uint8_t> file, const std::string& name) {
    if (file.empty()) fail_with(ExitCode::bad_input, "{}: is empty", name);
    return WavReader(file, name).read();
}

Sound read_wav(const std::string& path) { return decode_wav(read_file(path), path); }

std::vector<uint8_t> encode_wav(const Sound& sound) {
    check(sound.samples.defined() && sound.samples.dims() == 2 && sound.length() >= 1 &&
              (sound.channels() == 1 || sound.channels() == 2) &&
              sound.samples.elements() <= most_sound_values,
          "write_wav: a sound is [samples, 1 or 2 channels], not {}",
          to_string(sound.samples.shape()));
    check(sound.rate >= 1 && sound.rate <= std::numeric_limits<int32_t>::max(),
          "write_wav: {} samples a second", sound.rate);
    const int bytes = bytes_of_format(sound.format);
    const auto frame = static_cast<uint32_t>(bytes * sound.channels());
    const auto rate = static_cast<uint32_t>(sound.rate);
    const auto size = static_cast<uint32_t>(sound.length()) * frame, padding = size % 2;
    std::vector<uint8_t> file;
    file.reserve(44 + std::size_t{size} + padding);
    append(file, "RIFF");
    append(file, 36 + size + padding, 4);
    append(file, "WAVEfmt ");
    append(file, 16, 4);
    append(file, sound.format == SampleFormat::float32 ? tag_float : tag_pcm, 2);
    append(file, static_cast<uint32_t>(sound.channels()), 2);
    append(file, rate, 4);
    append(file, rate * frame, 4);
    append(file, frame, 2);
    append(file, static_cast<uint32_t>(8 * bytes), 2);
    append(file, "data");
    append(file, size, 4);
    for (const double value : sound.samples.to_doubles()) encode(file, value, sound.format);
    if (padding) file.push_back(0);
    return file;
}

void write_wav(const std::string& path, const Sound& sound) { write_file(path, encode_wav(sound)); }

}  // namespace ralimp
