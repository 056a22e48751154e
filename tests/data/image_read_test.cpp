// Reading and writing pictures: every kind of PNG and JPEG, and every way a file can be wrong.
#include <gtest/gtest.h>
#include <png.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "core/random.h"
#include "data/image.h"
#include "tests/data/image_files.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

class ImageFile : public testing::Test {
protected:
    Image read(const std::vector<uint8_t>& bytes, const std::string& name = "picture") {
        std::ofstream file(folder_ / name, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        file.close();
        return read_image(folder_ / name);
    }
    Thrown error_reading(const std::vector<uint8_t>& bytes, const std::string& name = "picture") {
        return error_of([&] { read(bytes, name); });
    }
    // Writes and reads again; the file name is put in front of the text expected.
    void expect_refused(const std::vector<uint8_t>& bytes, const std::string& text) {
        const Thrown thrown = error_reading(bytes);
        EXPECT_EQ(thrown.code, ExitCode::bad_input);
        EXPECT_EQ(thrown.text, folder_ / "picture" + ": " + text);
    }

    TemporaryFolder folder_;
};

std::vector<int> levels(int count, int bits, uint32_t step = 0) {
    std::vector<int> values(static_cast<std::size_t>(count));
    const RandomKey key{7, RandomStream::user, step};
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<int>(random_bits(key, i) >> (64 - bits));
    return values;
}

// The pixels must be the levels, exactly: level / largest rounded once to float.
void expect_levels(const Image& image, const Shape& shape, int bits, const std::vector<int>& want) {
    ASSERT_EQ(image.pixels.shape(), shape);
    ASSERT_EQ(image.pixels.dtype(), DType::float32);
    EXPECT_EQ(image.bits, bits);
    const auto largest = static_cast<float>((1 << bits) - 1);
    const auto got = image.pixels.to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], static_cast<float>(want[i]) / largest) << "at " << i;
}

TEST_F(ImageFile, PngOfEveryDepthAndChannelCount) {
    constexpr int height = 5, width = 13;
    const std::pair<int, int> kinds[] = {{PNG_COLOR_TYPE_GRAY, 1},
                                         {PNG_COLOR_TYPE_GRAY_ALPHA, 2},
                                         {PNG_COLOR_TYPE_RGB, 3},
                                         {PNG_COLOR_TYPE_RGB_ALPHA, 4}};
    for (const auto& [color_type, channels] : kinds)
        for (const int bits : {8, 16})
            for (const bool interlaced : {false, true}) {
                SCOPED_TRACE(
                    fmt::format("{} channels, {} bits, interlaced {}", channels, bits, interlaced));
                const auto values = levels(height * width * channels, bits);
                expect_levels(read(make_png({color_type, bits, interlaced}, height, width, values)),
                              {height, width, channels}, bits, values);
            }
}

TEST_F(ImageFile, PngOfFewerThanEightBitsIsWidenedToTheFullRange) {
    for (const int bits : {1, 2, 4})
        for (const bool interlaced : {false, true}) {
            auto values = levels(7 * 11, bits);
            const auto file = make_png({PNG_COLOR_TYPE_GRAY, bits, interlaced}, 7, 11, values);
            for (int& value : values) value *= 255 / ((1 << bits) - 1);
            expect_levels(read(file), {7, 11, 1}, 8, values);
        }
}

TEST_F(ImageFile, PngPalette) {
    const std::vector<uint8_t> palette = {10, 20, 30, 255, 0, 128, 1, 2, 3, 200, 100, 50};
    for (const int bits : {2, 4, 8}) {
        const auto indices = levels(6 * 9, 2);
        std::vector<int> colors, with_alpha;
        const int alpha[] = {0, 77, 255, 255};
        for (const int index : indices) {
            for (int c = 0; c < 3; ++c) {
                colors.push_back(palette[static_cast<std::size_t>(3 * index + c)]);
                with_alpha.push_back(colors.back());
            }
            with_alpha.push_back(alpha[index]);
        }
        PngRecipe recipe{PNG_COLOR_TYPE_PALETTE, bits, true, palette, {}, -1};
        expect_levels(read(make_png(recipe, 6, 9, indices)), {6, 9, 3}, 8, colors);
        recipe.palette_alpha = {0, 77};
        expect_levels(read(make_png(recipe, 6, 9, indices)), {6, 9, 4}, 8, with_alpha);
    }
}

TEST_F(ImageFile, PngTransparentColorBecomesAlpha) {
    for (const int bits : {4, 8, 16}) {
        const auto values = levels(8 * 8, bits);
        PngRecipe recipe{PNG_COLOR_TYPE_GRAY, bits, false, {}, {}, values[3]};
        const int out_bits = std::max(bits, 8), scale = bits == 4 ? 17 : 1;
        std::vector<int> want;
        for (const int value : values) {
            want.push_back(value * scale);
            want.push_back(value == values[3] ? 0 : (1 << out_bits) - 1);
        }
        expect_levels(read(make_png(recipe, 8, 8, values)), {8, 8, 2}, out_bits, want);
    }
}

TEST_F(ImageFile, JpegGreyColorProgressiveAndRgb) {
    constexpr int height = 37, width = 50;
    for (const JpegKind kind :
         {JpegKind::grey, JpegKind::color, JpegKind::color_progressive, JpegKind::rgb}) {
        const int channels = kind == JpegKind::grey ? 1 : 3;
        std::vector<int> values;  // smooth, which JPEG keeps well
        for (int i = 0; i < height; ++i)
            for (int j = 0; j < width; ++j)
                for (int c = 0; c < channels; ++c)
                    values.push_back(
                        static_cast<int>(127.5 + 100 * std::sin(0.1 * i + 0.07 * j + 2 * c)));
        const Image image = read(make_jpeg(kind, height, width, values), "misnamed.png");
        ASSERT_EQ(image.pixels.shape(), Shape({height, width, channels}));
        EXPECT_EQ(image.bits, 8);
        const auto got = image.pixels.to_vector<float>();
        double sum = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(got[i] * 255, values[i], 8) << "at " << i;
            sum += std::abs(got[i] * 255 - values[i]);
        }
        EXPECT_LT(sum / static_cast<double>(got.size()), 1.3);
    }
}

TEST_F(ImageFile, CmykJpegIsRefused) {
    expect_refused(make_jpeg(JpegKind::cmyk, 8, 8, std::vector<int>(8 * 8 * 4, 90)),
                   "is a JPEG in CMYK, for printing; convert it to RGB first");
}

TEST_F(ImageFile, FilesThatAreNoPicture) {
    EXPECT_EQ(error_of([&] { read_image(folder_ / "none.png"); }).text,
              folder_ / "none.png" + ": cannot be read: No such file or directory");
    EXPECT_EQ(error_of([&] { read_image(folder_.path()); }).text,
              folder_.path().string() + ": is a folder, not a file");
    expect_refused({}, "is empty");
    expect_refused({'h', 'e', 'l', 'l', 'o'}, "is neither a PNG nor a JPEG file");
    expect_refused({'G', 'I', 'F', '8', '9', 'a', 0, 0},
                   "is neither a PNG nor a JPEG file but seems to be GIF; convert it to PNG first");
    expect_refused(
        {'R', 'I', 'F', 'F', 9, 9, 9, 9, 'W', 'E', 'B', 'P'},
        "is neither a PNG nor a JPEG file but seems to be WebP; convert it to PNG first");
    expect_refused({0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'},
                   "cannot be read as PNG: the file ends too early");
}

TEST_F(ImageFile, EveryTruncationIsNoticed) {
    const auto values = levels(9 * 12 * 3, 8);
    const std::vector<uint8_t> files[] = {
        make_png({PNG_COLOR_TYPE_RGB, 8, false}, 9, 12, values),
        make_png({PNG_COLOR_TYPE_RGB, 8, true}, 9, 12, values),
        make_jpeg(JpegKind::color, 9, 12, values),
        make_jpeg(JpegKind::color_progressive, 9, 12, values),
    };
    for (const auto& file : files) {
        ASSERT_NO_THROW(read(file));
        for (std::size_t size = 0; size < file.size(); ++size) {
            const Thrown thrown = error_reading({file.begin(), file.begin() + size});
            ASSERT_EQ(thrown.code, ExitCode::bad_input) << size << " of " << file.size();
            ASSERT_EQ(thrown.text.find('\n'), std::string::npos);
        }
    }
}

TEST_F(ImageFile, DamageIsAnErrorOrAPictureNeverACrash) {
    const auto values = levels(9 * 12 * 3, 8);
    const std::vector<uint8_t> files[] = {
        make_png({PNG_COLOR_TYPE_RGB, 16, true}, 9, 12, levels(9 * 12 * 3, 16)),
        make_png({PNG_COLOR_TYPE_PALETTE, 4, false, {9, 9, 9, 8, 8, 8, 7, 7, 7}, {4, 5}, -1}, 9, 12,
                 std::vector<int>(9 * 12, 2)),
        make_jpeg(JpegKind::color, 9, 12, values),
        make_jpeg(JpegKind::color_progressive, 9, 12, values),
    };
    int refused = 0, read_well = 0;
    uint32_t step = 0;
    for (const auto& file : files)
        for (int round = 0; round < 250; ++round) {
            auto damaged = file;
            const RandomKey key{3, RandomStream::user, step++};
            for (uint64_t i = 0; i <= random_bits(key, 99) % 3; ++i) {
                const uint64_t bits = random_bits(key, i);
                damaged[(bits >> 8) % damaged.size()] = static_cast<uint8_t>(bits & 255);
            }
            const Thrown thrown = error_reading(damaged);
            thrown.text.empty() ? ++read_well : ++refused;
            if (!thrown.text.empty()) {
                ASSERT_EQ(thrown.code, ExitCode::bad_input) << thrown.text;
            }
        }
    EXPECT_GT(refused, 400);
    EXPECT_GT(read_well, 10);
}

// Peak resident memory of this process, in bytes.
int64_t peak_memory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} * 1024;
}

// Writes a 32-bit big-endian number.
void put(std::vector<uint8_t>& bytes, std::size_t position, uint32_t value) {
    for (int i = 0; i < 4; ++i)
        bytes[position + static_cast<std::size_t>(i)] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

// Bit by bit, from the PNG specification.
uint32_t crc_of(const uint8_t* bytes, std::size_t count) {
    uint32_t crc = 0xFFFFFFFFu;
    for (std::size_t i = 0; i < count; ++i) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

TEST_F(ImageFile, AnArithmeticJpegIsRefused) {
    auto jpeg = make_jpeg(JpegKind::grey, 8, 8, std::vector<int>(64, 50));
    std::size_t frame = 0;
    while (!(jpeg[frame] == 0xFF && jpeg[frame + 1] == 0xC0)) ++frame;
    jpeg[frame + 1] = 0xC9;  // start of a frame with arithmetic coding
    expect_refused(jpeg,
                   "is a JPEG with arithmetic coding, which hardly any program reads; save it with "
                   "Huffman coding");
}

TEST_F(ImageFile, ClaimedSizesAreCheckedBeforeMemoryIsAskedFor) {
    auto png = make_png({PNG_COLOR_TYPE_RGB, 8, false}, 4, 4, levels(48, 8));
    const auto claim = [&](uint32_t width, uint32_t height) {
        put(png, 16, width);
        put(png, 20, height);
        put(png, 29, crc_of(png.data() + 12, 17));
        return png;
    };
    const int64_t before = peak_memory();
    expect_refused(claim(200000, 300000),
                   "has 200000 x 300000 pixels, more than the 134 million that are accepted; "
                   "shrink it first");
    expect_refused(claim(0x7FFFFFFF, 0x7FFFFFFF),
                   "has 2147483647 x 2147483647 pixels, more than the 134 million that are "
                   "accepted; shrink it first");
    expect_refused(claim(11000, 11000),
                   fmt::format("cannot be read as PNG: {} bytes cannot hold the 11000 x 11000 "
                               "pixels it claims",
                               png.size()));
    EXPECT_EQ(error_reading(claim(0, 4)).code, ExitCode::bad_input);
    EXPECT_LT(peak_memory() - before, 16 << 20);

    auto jpeg = make_jpeg(JpegKind::grey, 8, 8, std::vector<int>(64, 50));
    std::size_t frame = 0;
    while (!(jpeg[frame] == 0xFF && jpeg[frame + 1] == 0xC0)) ++frame;
    for (std::size_t i = 5; i < 9; ++i) jpeg[frame + i] = 0x20;
    const int64_t peak = peak_memory();
    expect_refused(
        jpeg, fmt::format("cannot be read as JPEG: {} bytes cannot hold the 8224 x 8224 pixels "
                          "it claims",
                          jpeg.size()));
    EXPECT_LT(peak_memory() - peak, 16 << 20);
    for (std::size_t i = 5; i < 9; ++i) jpeg[frame + i] = 0xFA;
    expect_refused(jpeg,
                   "has 64250 x 64250 pixels, more than the 134 million that are accepted; shrink "
                   "it first");
}

TEST_F(ImageFile, WritingAndReadingKeepsEveryLevel) {
    for (const int bits : {8, 16})
        for (const int channels : {1, 2, 3, 4}) {
            const auto values = levels(11 * 7 * channels, bits);
            std::vector<float> pixels;
            for (const int value : values)
                pixels.push_back(static_cast<float>(value) / static_cast<float>((1 << bits) - 1));
            write_png(folder_ / "a.png", {Tensor::from(pixels, {11, 7, channels}), bits});
            expect_levels(read_image(folder_ / "a.png"), {11, 7, channels}, bits, values);
        }
    EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(ImageFile, WritingRoundsAndClamps) {
    const float nan = std::nanf(""), infinity = INFINITY;
    const std::vector<float> pixels = {-1,           2, nan, infinity, -infinity, 0.4999f / 255,
                                       0.5001f / 255};
    write_png(folder_ / "a.png", {Tensor::from(pixels, {1, 7, 1}), 8});
    expect_levels(read_image(folder_ / "a.png"), {1, 7, 1}, 8, {0, 255, 0, 255, 0, 0, 1});
    const std::vector<double> doubles = {0.25, 1};
    write_png(folder_ / "a.png", {Tensor::from(doubles, {2, 1, 1}), 8});
    expect_levels(read_image(folder_ / "a.png"), {2, 1, 1}, 8, {64, 255});
}

TEST_F(ImageFile, WritingRefusesWhatIsNoPicture) {
    const auto text = [&](const Image& image) {
        return error_of([&] { write_png(folder_ / "a.png", image); }).text;
    };
    EXPECT_EQ(text({Tensor::empty({4, 4}), 8}),
              "write_png: a picture is [height, width, 1 to 4 channels], not [4, 4]");
    EXPECT_EQ(text({Tensor::empty({4, 4, 5}), 8}),
              "write_png: a picture is [height, width, 1 to 4 channels], not [4, 4, 5]");
    EXPECT_EQ(text({Tensor::empty({0, 4, 3}), 8}),
              "write_png: a picture is [height, width, 1 to 4 channels], not [0, 4, 3]");
    EXPECT_EQ(text({Tensor::empty({4, 4, 3}), 10}),
              "write_png: a picture has 8 or 16 bits, not 10");
    EXPECT_EQ(text({Tensor::empty({4, 4, 3}, DType::int32), 8}).substr(0, 9), "write_png");
    EXPECT_EQ(folder_.entries(), 0);
    const Image image{Tensor::from(std::vector<float>{0.5f}, {1, 1, 1}), 8};
    EXPECT_EQ(error_of([&] { write_png("/proc/none/a.png", image); }).code, ExitCode::io);
}

TEST(ImageData, RealPicturesMatchAnIndependentDecoder) {
    const char* data = std::getenv("RALIMP_DATA");
    if (!data) GTEST_SKIP() << "RALIMP_DATA is not set; it names the folder of real data";
    std::ifstream golden(SOURCE_DIR "/tests/golden/png_checksums.txt");
    ASSERT_TRUE(golden.is_open());
    int pictures = 0;
    for (std::string line; std::getline(golden, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream fields(line);
        std::string name;
        int64_t height, width, channels, sum, weighted;
        fields >> name >> height >> width >> channels >> sum >> weighted;
        ASSERT_TRUE(fields) << line;
        SCOPED_TRACE(name);
        const Image image = read_image(std::string(data) + "/images/" + name);
        ASSERT_EQ(image.pixels.shape(), Shape({height, width, channels}));
        int64_t got_sum = 0, got_weighted = 0, index = 0;
        for (const float pixel : image.pixels.to_vector<float>()) {
            const auto level = static_cast<int64_t>(std::lround(pixel * 255));
            got_sum += level;
            got_weighted += level * (index++ % 65521);
        }
        EXPECT_EQ(got_sum, sum);
        EXPECT_EQ(got_weighted, weighted);
        ++pictures;
    }
    EXPECT_EQ(pictures, 9);
    EXPECT_EQ(read_image(std::string(data) + "/images/rocket.jpg").channels(), 3);
    EXPECT_EQ(read_image(std::string(data) + "/images/hubble_deep_field.jpg").channels(), 3);
}

}  // namespace
}  // namespace ralimp
