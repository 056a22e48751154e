// Area averaging, alpha, PSNR, and the picture that the program draws itself.
#include "data/image.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"
#include "core/random.h"
#include "data/synthetic_picture.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

Image random_image(int64_t height, int64_t width, int64_t channels, uint32_t step = 0) {
    std::vector<float> values(static_cast<std::size_t>(height * width * channels));
    const RandomKey key{11, RandomStream::user, step};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_uniform<float>(key, i);
    return {Tensor::from(values, {height, width, channels}), 8};
}

// The length that [i, i + 1) · from / to and [j, j + 1) have in common.
double overlap(int64_t i, int64_t j, int64_t from, int64_t to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double begin = std::max(static_cast<double>(i) * scale, static_cast<double>(j));
    const double end = std::min(static_cast<double>(i + 1) * scale, static_cast<double>(j + 1));
    return std::max(0.0, end - begin);
}

TEST(ResizeArea, IsTheMeanOverTheCoveredArea) {
    const std::pair<Shape, Shape> cases[] = {{{12, 20, 1}, {4, 5, 1}},   {{7, 5, 3}, {3, 4, 3}},
                                             {{17, 1, 2}, {5, 1, 2}},    {{6, 6, 4}, {6, 1, 4}},
                                             {{31, 29, 1}, {30, 28, 1}}, {{3, 64, 1}, {1, 1, 1}}};
    for (const auto& [from, to] : cases) {
        SCOPED_TRACE(to_string(from) + " to " + to_string(to));
        const Image image = random_image(from[0], from[1], from[2]);
        const auto in = image.pixels.to_vector<float>();
        const Image small = resize_area(image, to[0], to[1]);
        ASSERT_EQ(small.pixels.shape(), to);
        const auto out = small.pixels.to_vector<float>();
        std::size_t position = 0;
        for (int64_t i = 0; i < to[0]; ++i)
            for (int64_t j = 0; j < to[1]; ++j)
                for (int64_t c = 0; c < to[2]; ++c) {
                    double sum = 0, area = 0;
                    for (int64_t y = 0; y < from[0]; ++y)
                        for (int64_t x = 0; x < from[1]; ++x) {
                            const double weight =
                                overlap(i, y, from[0], to[0]) * overlap(j, x, from[1], to[1]);
                            const auto at =
                                static_cast<std::size_t>((y * from[1] + x) * from[2] + c);
                            sum += weight * in[at];
                            area += weight;
                        }
                    ASSERT_NEAR(out[position++], sum / area, 1e-6);
                }
    }
}

TEST(ResizeArea, SameSizeKeepsEveryBit) {
    const Image image = random_image(23, 14, 3);
    EXPECT_EQ(resize_area(image, 23, 14).pixels.to_vector<float>(),
              image.pixels.to_vector<float>());
}

TEST(ResizeArea, OnlyShrinks) {
    const Image image = random_image(4, 6, 1);
    for (const auto& [height, width] : {std::pair{5, 6}, {4, 7}, {0, 6}, {4, -1}})
        EXPECT_EQ(error_of([&] { resize_area(image, height, width); }).text,
                  fmt::format("resize_area: 6 x 4 pixels can be shrunk to at least 1 x 1, not "
                              "changed to {} x {}",
                              width, height));
}

TEST(BlendAlpha, PutsABackgroundBehind) {
    const std::vector<float> rgba = {1, 0.5f, 0, 0.25f, 0.2f, 0.4f, 0.6f, 1};
    const Image image{Tensor::from(rgba, {1, 2, 4}), 16};
    const Image blended = blend_alpha(image, 0.8);
    EXPECT_EQ(blended.pixels.shape(), Shape({1, 2, 3}));
    EXPECT_EQ(blended.bits, 16);
    const std::vector<float> want = {0.85f, 0.725f, 0.6f, 0.2f, 0.4f, 0.6f};
    const auto got = blended.pixels.to_vector<float>();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6);

    const Image grey{Tensor::from(std::vector<float>{0.5f, 0}, {1, 1, 2}), 8};
    EXPECT_EQ(blend_alpha(grey, 1).pixels.to_vector<float>(), std::vector<float>{1});
    const Image opaque = random_image(3, 3, 3);
    EXPECT_EQ(blend_alpha(opaque, 1).pixels.data(), opaque.pixels.data());
    EXPECT_NE(error_of([&] { blend_alpha(opaque, 1.5); }).text, "");
}

TEST(Psnr, KnownValues) {
    const auto constant = [](double value) {
        return Tensor::from(std::vector<double>(300, value), {10, 30});
    };
    EXPECT_NEAR(psnr(constant(0.3), constant(0.4), 1), 20, 1e-9);
    EXPECT_NEAR(psnr(constant(-0.9), constant(-0.7), 2), 20, 1e-9);
    EXPECT_NEAR(psnr(constant(0), constant(1), 1), 0, 1e-12);
    EXPECT_NEAR(psnr(constant(0), constant(255), 255), 0, 1e-12);
    EXPECT_NEAR(psnr(constant(0), constant(10), 1), -20, 1e-9);
    // One pixel of 300 differs by 1/2: mean squared difference 1/1200.
    auto values = std::vector<double>(300, 0.25);
    values[137] = 0.75;
    EXPECT_NEAR(psnr(Tensor::from(values, {10, 30}), constant(0.25), 1), 10 * std::log10(1200.0),
                1e-9);
}

TEST(Psnr, IsCappedAndTellsOfNan) {
    const Image image = random_image(5, 5, 1);
    EXPECT_EQ(psnr(image.pixels, image.pixels, 1), psnr_cap);
    const Tensor zero = Tensor::from(std::vector<double>{0}, {1});
    EXPECT_EQ(psnr(zero, Tensor::from(std::vector<double>{1e-12}, {1}), 1), psnr_cap);
    EXPECT_EQ(psnr(zero, Tensor::from(std::vector<double>{1e-200}, {1}), 1), psnr_cap);
    EXPECT_TRUE(std::isnan(psnr(zero, Tensor::from(std::vector<double>{NAN}, {1}), 1)));
    EXPECT_EQ(psnr(zero, Tensor::from(std::vector<double>{INFINITY}, {1}), 1), -INFINITY);
}

TEST(Psnr, RefusesWhatCannotBeCompared) {
    const Tensor a = Tensor::from(std::vector<float>(6, 0), {2, 3});
    const Tensor b = Tensor::from(std::vector<float>(6, 0), {3, 2});
    const Tensor c = Tensor::from(std::vector<double>(6, 0), {2, 3});
    EXPECT_EQ(error_of([&] { psnr(a, b, 1); }).text,
              "psnr: two tensors of one shape are needed, not [2, 3] and [3, 2]");
    EXPECT_EQ(error_of([&] { psnr(a, c, 1); }).text, "psnr: the tensors hold float32 and float64");
    EXPECT_EQ(error_of([&] { psnr(a, a, 0); }).text, "psnr: data range 0 is not positive");
    EXPECT_NE(error_of([&] { psnr(Tensor::empty({0}), Tensor::empty({0}), 1); }).text, "");
}

TEST(Psnr, SameBitsForAnyNumberOfThreads) {
    const Image a = random_image(400, 300, 3, 1), b = random_image(400, 300, 3, 2);
    const int threads = thread_count();
    set_thread_count(1);
    const double one = psnr(a.pixels, b.pixels, 1);
    set_thread_count(3);
    const double three = psnr(a.pixels, b.pixels, 1);
    set_thread_count(threads);
    EXPECT_EQ(one, three);
    // Independent uniform values differ by 1/6 in the mean square.
    EXPECT_NEAR(one, 10 * std::log10(6.0), 0.02);
}

TEST(ImageViews, StridedPixelsGiveTheSameAsTheirCopy) {
    const Image image = random_image(9, 14, 3);
    // Upright and without the second channel.
    const Image view{image.pixels.strided_view({14, 9, 2}, {3, 42, 2}), 16};
    ASSERT_FALSE(view.pixels.is_contiguous());
    const Image copy{view.pixels.clone(), 16};
    EXPECT_EQ(resize_area(view, 5, 4).pixels.to_vector<float>(),
              resize_area(copy, 5, 4).pixels.to_vector<float>());
    EXPECT_EQ(blend_alpha(view, 1).pixels.to_vector<float>(),
              blend_alpha(copy, 1).pixels.to_vector<float>());
    EXPECT_EQ(psnr(view.pixels, copy.pixels, 1), psnr_cap);
    const TemporaryFolder folder;
    write_png(folder / "view.png", view);
    const Image read = read_image(folder / "view.png");
    EXPECT_GT(psnr(read.pixels, copy.pixels, 1), 100);
}

TEST(SyntheticPicture, IsDeterministicAndFillsItsRange) {
    const int threads = thread_count();
    set_thread_count(1);
    const auto one = synthetic_picture(64, 96).pixels.to_vector<float>();
    set_thread_count(3);
    const auto three = synthetic_picture(64, 96).pixels.to_vector<float>();
    set_thread_count(threads);
    EXPECT_EQ(one, three);
    ASSERT_EQ(one.size(), 64u * 96 * 3);
    const auto [low, high] = std::minmax_element(one.begin(), one.end());
    EXPECT_GE(*low, 0);
    EXPECT_LE(*high, 1);
    EXPECT_LT(*low, 0.2f);
    EXPECT_GT(*high, 0.95f);
}

TEST(SyntheticPicture, IsOneSceneAtEveryResolution) {
    const Image large = synthetic_picture(192, 256), small = synthetic_picture(64, 85);
    // A pixel of the small one covers nearly 3 x 3 of the large one.
    EXPECT_GT(psnr(resize_area(large, 64, 85).pixels, small.pixels, 1), 24);
}

TEST(SyntheticPicture, HasDetailAtEveryScale) {
    // What is lost by halving the resolution: much at each octave, unlike a smooth gradient.
    Image image = synthetic_picture(256, 256);
    for (int64_t size = 256; size >= 16; size /= 2) {
        const Image half = resize_area(image, size / 2, size / 2);
        const auto fine = image.pixels.to_vector<float>(), coarse = half.pixels.to_vector<float>();
        double sum = 0;
        for (int64_t i = 0; i < size; ++i)
            for (int64_t j = 0; j < 3 * size; ++j) {
                const auto at = static_cast<std::size_t>((i / 2 * (size / 2) + j / 6) * 3 + j % 3);
                sum += std::pow(fine[static_cast<std::size_t>(i * 3 * size + j)] - coarse[at], 2);
            }
        EXPECT_GT(std::sqrt(sum / static_cast<double>(3 * size * size)), 0.015) << size;
        image = half;
    }
}

TEST(SyntheticPicture, ExtremeSizes) {
    EXPECT_EQ(synthetic_picture(1, 1).pixels.shape(), Shape({1, 1, 3}));
    EXPECT_EQ(synthetic_picture(2, 301).pixels.shape(), Shape({2, 301, 3}));
    for (const auto& [height, width] :
         {std::pair<int64_t, int64_t>{0, 5}, {5, -1}, {1 << 20, 1 << 20}})
        EXPECT_NE(error_of([&] { synthetic_picture(height, width); }).text, "");
}

}  // namespace
}  // namespace ralimp
