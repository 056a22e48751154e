// WAV files of every format: files built here byte by byte, round trips, and damaged ones.
#include "data/wav.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/file.h"
#include "core/random.h"
#include "data/synthetic_tone.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes little(uint64_t value, int count) {
    Bytes bytes;
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
    return bytes;
}
Bytes text(const std::string& word) { return {word.begin(), word.end()}; }
Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}
Bytes chunk(const std::string& id, const Bytes& content) {
    Bytes bytes = joined({text(id), little(content.size(), 4), content});
    if (content.size() % 2) bytes.push_back(0);
    return bytes;
}
Bytes format(int tag, int channels, int rate, int bits) {
    return chunk("fmt ", joined({little(tag, 2), little(channels, 2), little(rate, 4),
                                 little(rate * channels * bits / 8, 4),
                                 little(channels * bits / 8, 2), little(bits, 2)}));
}
Bytes wav(const Bytes& chunks) {
    return joined({text("RIFF"), little(chunks.size() + 4, 4), text("WAVE"), chunks});
}

class Wav : public testing::Test {
protected:
    TemporaryFolder folder;
    std::string path = folder / "sound.wav";
    Sound read(const Bytes& bytes) {
        write_file(path, bytes);
        return read_wav(path);
    }
    std::string refusal(const Bytes& bytes) {
        write_file(path, bytes);
        const Thrown thrown = error_of([&] { read_wav(path); });
        EXPECT_EQ(thrown.code, ExitCode::bad_input) << thrown.text;
        EXPECT_EQ(thrown.text.rfind(path + ": ", 0), 0u) << thrown.text;
        EXPECT_EQ(thrown.text.find('\n'), std::string::npos) << thrown.text;
        return thrown.text.substr(std::min(thrown.text.size(), path.size() + 2));
    }
};

TEST_F(Wav, LevelsOfEveryFormatMeanWhatTheyShould) {
    struct Case {
        int tag, bits;
        SampleFormat samples;
        Bytes data;
        std::vector<double> values;
    };
    const float third = 1.0f / 3;
    const Case cases[] = {
        {1, 8, SampleFormat::pcm8, {0, 128, 255, 127, 64}, {-1, 0, 127.0 / 128, -1.0 / 128, -0.5}},
        {1,
         16,
         SampleFormat::pcm16,
         {0x00, 0x80, 0xFF, 0x7F, 0xFF, 0xFF, 1, 0},
         {-1, 32767.0 / 32768, -1.0 / 32768, 1.0 / 32768}},
        {1,
         24,
         SampleFormat::pcm24,
         {0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF},
         {-1, 8388607.0 / 8388608, -1.0 / 8388608}},
        {1,
         32,
         SampleFormat::pcm32,
         {0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0x7F},
         {-1, 2147483647.0 / 2147483648}},
        {3,
         32,
         SampleFormat::float32,
         joined({little(std::bit_cast<uint32_t>(third), 4),
                 little(std::bit_cast<uint32_t>(-2.5f), 4)}),
         {third, -2.5}}};
    for (const Case& c : cases) {
        SCOPED_TRACE(c.bits);
        const Sound sound =
            read(wav(joined({format(c.tag, 1, 8000, c.bits), chunk("data", c.data)})));
        EXPECT_EQ(sound.samples.to_vector<double>(), c.values);
        EXPECT_EQ(sound.samples.shape(), (Shape{static_cast<int64_t>(c.values.size()), 1}));
        EXPECT_EQ(sound.rate, 8000);
        EXPECT_EQ(sound.format, c.samples);
    }
}

TEST_F(Wav, StereoExtensibleAndOtherChunks) {
    const Bytes guid =
        joined({little(1, 2), Bytes{0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71}});
    const Bytes extensible = chunk(
        "fmt ",
        joined({little(0xFFFE, 2), little(2, 2), little(44100, 4), little(44100 * 4, 4),
                little(4, 2), little(16, 2), little(22, 2), little(16, 2), little(3, 4), guid}));
    const Bytes data = chunk("data", {0, 0x40, 0, 0xC0, 0, 0x20, 0, 0xE0});
    // An odd chunk is padded; what follows the samples is not read.
    const Sound sound = read(wav(
        joined({chunk("LIST", {1, 2, 3}), extensible, chunk("fact", {0, 0, 0, 0}), data, {9, 9}})));
    EXPECT_EQ(sound.samples.shape(), (Shape{2, 2}));
    EXPECT_EQ(sound.samples.to_vector<double>(), (std::vector<double>{0.5, -0.5, 0.25, -0.25}));
    EXPECT_EQ(sound.rate, 44100);
    EXPECT_DOUBLE_EQ(sound.seconds(), 2.0 / 44100);
}

TEST_F(Wav, WritesWhatItReadsBitForBit) {
    const RandomKey key{3, RandomStream::user, 0};
    uint64_t draw = 0;
    for (const auto& [samples, tag, bits] : {std::tuple{SampleFormat::pcm8, 1, 8},
                                             {SampleFormat::pcm16, 1, 16},
                                             {SampleFormat::pcm24, 1, 24},
                                             {SampleFormat::pcm32, 1, 32},
                                             {SampleFormat::float32, 3, 32}})
        for (const int channels : {1, 2})
            for (const int length : {1, 7, 100}) {
                Bytes data;
                for (int i = 0; i < length * channels; ++i) {
                    uint64_t word = random_bits(key, draw++);
                    if (samples == SampleFormat::float32)
                        word = std::bit_cast<uint32_t>(random_normal<float>(key, draw));
                    const Bytes value = little(word, bits / 8);
                    data.insert(data.end(), value.begin(), value.end());
                }
                const Bytes file =
                    wav(joined({format(tag, channels, 11025, bits), chunk("data", data)}));
                const Sound sound = read(file);
                EXPECT_EQ(sound.format, samples);
                write_wav(path, sound);
                EXPECT_EQ(read_file(path), file) << bits << " " << channels << " " << length;
            }
}

TEST_F(Wav, ClampsRoundsAndReplacesNaN) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor values = Tensor::from<double>({1.5, -1.5, nan, 0.6 / 128, 1, 1e300}, {6, 1});
    for (const SampleFormat samples :
         {SampleFormat::pcm8, SampleFormat::pcm16, SampleFormat::pcm24, SampleFormat::pcm32}) {
        write_wav(path, {values, 8000, samples});
        const auto back = read_wav(path).samples.to_vector<double>();
        const double level = std::ldexp(1.0, samples == SampleFormat::pcm8    ? -7
                                             : samples == SampleFormat::pcm16 ? -15
                                             : samples == SampleFormat::pcm24 ? -23
                                                                              : -31);
        EXPECT_EQ(back[0], 1 - level);
        EXPECT_EQ(back[1], -1);
        EXPECT_EQ(back[2], 0);
        EXPECT_EQ(back[3], std::round(0.6 / 128 / level) * level);
        EXPECT_EQ(back[4], 1 - level);
        EXPECT_EQ(back[5], 1 - level);
    }
}

TEST_F(Wav, RefusesDamagedFilesInOneLine) {
    const Bytes pcm = format(1, 1, 8000, 16), data = chunk("data", {1, 0, 2, 0});
    EXPECT_EQ(refusal({}), "is empty");
    EXPECT_EQ(refusal(text("RIFF")), "is not a WAV file");
    EXPECT_EQ(refusal(text("plain text, no sound")), "is not a WAV file");
    EXPECT_EQ(refusal(joined({text("RF64"), little(9, 4), text("WAVE")})),
              "is not a WAV file, but its relative RF64; convert it to plain WAV first");
    EXPECT_EQ(refusal(wav({})), "cannot be read as WAV: it ends without a chunk 'fmt '");
    EXPECT_EQ(refusal(wav(pcm)), "cannot be read as WAV: it ends without a chunk 'data'");
    EXPECT_EQ(refusal(wav(data)), "cannot be read as WAV: its samples come before their format");
    EXPECT_EQ(refusal(wav(joined({pcm, pcm, data}))), "cannot be read as WAV: it has two formats");
    EXPECT_EQ(refusal(wav(joined({chunk("fmt ", {1, 0}), data}))),
              "cannot be read as WAV: its format has 2 bytes, not 16 or more");
    EXPECT_EQ(refusal(wav(joined({pcm, chunk("data", {})}))), "has no samples");
    EXPECT_EQ(refusal(wav(joined({pcm, chunk("data", {1, 2, 3})}))),
              "cannot be read as WAV: 3 bytes of samples are no whole number of frames of 2");
    EXPECT_EQ(refusal(wav(joined({format(1, 6, 8000, 16), data}))),
              "has 6 channels; mono and stereo can be read");
    EXPECT_EQ(refusal(wav(joined({format(1, 0, 8000, 16), data}))),
              "has 0 channels; mono and stereo can be read");
    EXPECT_EQ(refusal(wav(joined({format(1, 1, 0, 16), data}))),
              "cannot be read as WAV: its rate is 0 samples a second");
    EXPECT_EQ(refusal(wav(joined({format(1, 1, 8000, 12), data}))),
              "has PCM of 12 bits; PCM of 8, 16, 24 or 32 bits or float of 32 can be read, so "
              "convert it first");
    EXPECT_EQ(refusal(wav(joined({format(3, 1, 8000, 64), data}))),
              "has float of 64 bits; PCM of 8, 16, 24 or 32 bits or float of 32 can be read, so "
              "convert it first");
    EXPECT_EQ(refusal(wav(joined({format(6, 1, 8000, 8), data}))),
              "has format 6 of 8 bits; PCM of 8, 16, 24 or 32 bits or float of 32 can be read, so "
              "convert it first");
    Bytes frame = pcm;
    frame[20] = 3;
    EXPECT_EQ(refusal(wav(joined({frame, data}))),
              "cannot be read as WAV: a frame of 3 bytes does not hold 1 samples of 16 bits");
    EXPECT_EQ(refusal(wav(joined({format(3, 1, 8000, 32), chunk("data", {0, 0, 0x80, 0x7F})}))),
              "cannot be read as WAV: value 0 of channel 0 is not finite");
    const Bytes claims = joined({text("data"), little(0xFFFFFFF0u, 4), {1, 0}});
    EXPECT_EQ(refusal(wav(joined({pcm, claims}))),
              "cannot be read as WAV: the chunk 'data' claims 4294967280 bytes, 2 are there");
    EXPECT_EQ(error_of([&] { read_wav(folder / "none.wav"); }).code, ExitCode::bad_input);
}

// Every file cut short is refused; every byte changed is read or refused, never more.
TEST_F(Wav, CutAndChangedFilesDoNoHarm) {
    const Bytes whole = wav(joined({format(1, 2, 8000, 24), chunk("data", Bytes(18, 7))}));
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_NE(refusal(Bytes(whole.begin(), whole.begin() + static_cast<int64_t>(size))), "");
    for (std::size_t i = 0; i < whole.size(); ++i)
        for (const int change : {0x01, 0x80, 0xFF}) {
            Bytes changed = whole;
            changed[i] ^= static_cast<uint8_t>(change);
            write_file(path, changed);
            const Thrown thrown =
                error_of([&] { EXPECT_LE(read_wav(path).samples.elements(), 18); });
            EXPECT_TRUE(thrown.text.empty() || thrown.code == ExitCode::bad_input) << thrown.text;
        }
}

TEST_F(Wav, RefusesToWriteWhatIsNoSound) {
    EXPECT_THROW(write_wav(path, {Tensor::zeros({4, 3}, DType::float64), 8000}), Error);
    EXPECT_THROW(write_wav(path, {Tensor::zeros({4}, DType::float64), 8000}), Error);
    EXPECT_THROW(write_wav(path, {Tensor::zeros({0, 1}, DType::float64), 8000}), Error);
    EXPECT_THROW(write_wav(path, {Tensor::zeros({4, 1}, DType::float64), 0}), Error);
    EXPECT_EQ(folder.entries(), 0);
}

TEST(SyntheticTone, IsAFunctionOfTimeAndHasItsNotes) {
    const Sound slow = synthetic_tone(1, 8000), fast = synthetic_tone(1, 16000);
    ASSERT_EQ(slow.length(), 8000);
    ASSERT_EQ(fast.length(), 16000);
    const auto a = slow.samples.to_vector<double>(), b = fast.samples.to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[2 * i]);
    // The share of a frequency in a stretch where all notes sound.
    const auto power = [&](double frequency) {
        double cosine = 0, sine = 0;
        for (std::size_t i = 5200; i < 8000; ++i) {
            const double angle = 2 * 3.14159265358979 * frequency * static_cast<double>(i) / 8000;
            cosine += a[i] * std::cos(angle);
            sine += a[i] * std::sin(angle);
        }
        return std::hypot(cosine, sine);
    };
    for (const double note : {220, 275, 330, 440})
        EXPECT_GT(power(note), 5 * power(note + 27)) << note;
}

}  // namespace
}  // namespace ralimp
