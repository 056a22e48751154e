// SIREN tasks: images and sounds of every kind come back bit for bit, at other sizes by the network
// itself; derivatives against closed forms; fits of gradients and Laplacians.
#include "trainers/siren.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/operations.h"
#include "core/file.h"
#include "core/parallel.h"
#include "data/image.h"
#include "data/wav.h"
#include "layers/parameters.h"
#include "tests/data/image_files.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<SirenTask> task_of(const std::string& yaml) {
    return std::make_unique<SirenTask>(read_config_text<SirenConfig>(yaml));
}

std::map<std::string, Tensor> tensors_of(SirenTask& task) {
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, tensor] : named_tensors(task.model())) tensors.emplace(name, tensor);
    return tensors;
}

// Trains with L-BFGS until the fit is perfect to 16 bits, and returns the folder of its pictures.
// Pictures that need gnuplot are left to others.
fs::path fit_perfectly(const TemporaryFolder& folder, const std::string& data) {
    const NoPrograms no_programs;
    const std::string config = fmt::format(
        "kind: siren\nprecision: float64\nthreads: 1\ndata: {}\n"
        "network: {{hidden_layers: 2, width: 40}}\n"
        "training: {{phases: [{{steps: 500, optimizer: {{kind: lbfgs, tolerance_gradient: 1e-14, "
        "tolerance_change: 0}}}}], log_every: 1000}}\n",
        data);
    const Trained trained = train_in(folder.path() / "run", config);
    EXPECT_EQ(trained.error, "");
    for (const auto& [name, value] : trained.result.metrics)
        if (name == "psnr") {
            EXPECT_GT(value, 110);
        }
    return folder.path() / "run/pictures";
}

void expect_equal_images(const fs::path& a, const fs::path& b, const std::string& what) {
    const Image x = read_image(a.string()), y = read_image(b.string());
    EXPECT_EQ(x.bits, y.bits) << what;
    ASSERT_EQ(x.pixels.shape(), y.pixels.shape()) << what;
    EXPECT_EQ(x.pixels.to_vector<float>(), y.pixels.to_vector<float>()) << what;
}

std::vector<int> random_levels(int count, int bits, uint32_t step) {
    std::vector<int> levels;
    for (int i = 0; i < count; ++i)
        levels.push_back(static_cast<int>(
            random_bits({5, RandomStream::user, step}, static_cast<uint64_t>(i)) >> (64 - bits)));
    // Both ends of the range are there.
    levels.front() = 0;
    levels.back() = (1 << bits) - 1;
    return levels;
}

// deep-daze#41: black output from a wrong way back to pixels.
TEST(SirenImages, APerfectFitOfAnyImageIsThatImage) {
    struct Case {
        const char* name;
        PngRecipe recipe;
        int channels, height, width;
    };
    // PNG's colour types: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA.
    PngRecipe palette{3, 8};
    palette.palette = {255, 0, 0, 10, 200, 30, 0, 0, 0, 9, 8, 7};
    PngRecipe transparent = palette;
    transparent.palette_alpha = {255, 0, 128, 3};
    const Case cases[] = {{"grey", {0, 8}, 1, 3, 4},
                          {"grey of 16 bits", {0, 16}, 1, 4, 3},
                          {"grey of 1 bit", {0, 1}, 1, 4, 4},
                          {"grey and alpha", {4, 8}, 2, 3, 3},
                          {"grey and alpha of 16 bits", {4, 16}, 2, 2, 3},
                          {"RGB", {2, 8}, 3, 3, 4},
                          {"RGB of 16 bits", {2, 16}, 3, 2, 5},
                          {"RGBA", {6, 8}, 4, 3, 4},
                          {"RGBA of 16 bits", {6, 16}, 4, 3, 2},
                          {"palette", palette, 1, 3, 4},
                          {"palette with alpha", transparent, 1, 3, 4},
                          {"one row", {2, 8}, 3, 1, 9},
                          {"one column", {0, 16}, 1, 9, 1},
                          {"one pixel", {6, 8}, 4, 1, 1}};
    uint32_t step = 0;
    for (const Case& c : cases) {
        const TemporaryFolder folder;
        const int bits = c.recipe.color_type == 3 ? 2 : c.recipe.bits;
        write_file(folder / "in.png",
                   make_png(c.recipe, c.height, c.width,
                            random_levels(c.height * c.width * c.channels, bits, step++)));
        const fs::path pictures =
            fit_perfectly(folder, fmt::format("{{image: {}}}", folder / "in.png"));
        expect_equal_images(pictures / "reconstruction.png", folder / "in.png", c.name);
        expect_equal_images(pictures / "original.png", folder / "in.png", c.name);
    }
}

TEST(SirenImages, APerfectFitOfAJpegIsWhatTheJpegHolds) {
    for (const auto& [kind, channels] : {std::pair{JpegKind::grey, 1}, {JpegKind::color, 3}}) {
        const TemporaryFolder folder;
        write_file(folder / "in.jpg", make_jpeg(kind, 3, 4, random_levels(12 * channels, 8, 77)));
        const fs::path pictures =
            fit_perfectly(folder, fmt::format("{{image: {}}}", folder / "in.jpg"));
        expect_equal_images(pictures / "reconstruction.png", folder / "in.jpg", "jpeg");
    }
}

constexpr const char* small_network =
    "network: {hidden_layers: 2, width: 9, omega: 12, first_omega: 12}\n";

TEST(SirenImages, AnySizeIsTheNetworkThere) {
    const TemporaryFolder folder;
    const auto task =
        task_of(fmt::format("precision: float64\ndata: {{size: [6, 8]}}\n{}", small_network));
    task->draw(folder.path());
    // The trained size, named or not, is the usual picture.
    EXPECT_EQ(task->render(folder.path(), {{6, 8}, false}),
              std::vector<std::string>{"reconstruction_6x8.png"});
    EXPECT_EQ(read_file(folder / "reconstruction_6x8.png"),
              read_file(folder / "reconstruction.png"));
    // Larger than a piece, odd, and a single row.
    for (const auto& [height, width] : {std::pair{301, 257}, {1, 5}, {7, 1}}) {
        const std::string name = fmt::format("reconstruction_{}x{}.png", height, width);
        EXPECT_EQ(task->render(folder.path(), {{height, width}, false}),
                  std::vector<std::string>{name});
        const Image image = read_image(folder / name);
        ASSERT_EQ(image.pixels.shape(), (Shape{height, width, 3}));
        const auto levels = image.pixels.to_vector<float>();
        for (const auto& [row, column] :
             {std::pair{0, 0}, {height - 1, width - 1}, {height / 2, width / 3}, {height - 1, 0}}) {
            const auto at = [](int i, int count) {
                return count == 1 ? 0.0 : -1 + 2.0 * i / (count - 1);
            };
            const Tensor x = Tensor::from<double>({at(column, width), at(row, height)}, {1, 2});
            const auto wanted = task->model().forward(x).to_vector<double>();
            for (std::size_t c = 0; c < 3; ++c)
                EXPECT_NEAR(levels[(row * width + column) * 3 + c],
                            std::clamp(0.5 * wanted[c] + 0.5, 0.0, 1.0), 0.502 / 255)
                    << name << " " << row << " " << column;
        }
    }
}

// Each batch of an epoch by itself: their mean is the loss of the whole signal only when every
// point is drawn once and meets its own value.
TEST(SirenBatches, OfAnEpochAreTheWholeSignalOnce) {
    for (const char* data :
         {"{size: [8, 9], batch_size: BATCH}", "{kind: audio, seconds: 0.009, batch_size: BATCH}"})
        for (const char* fit : {"value", "gradient", "laplacian"}) {
            const auto loss_of = [&](int batch_size, int64_t step) {
                std::string text = data;
                text.replace(text.find("BATCH"), 5, std::to_string(batch_size));
                const auto task =
                    task_of(fmt::format("precision: float64\ndata: {}\nloss: {{fit: {}}}\n{}", text,
                                        fit, small_network));
                task->set_batch(step);
                EXPECT_EQ(task->parts(), 1);
                return task->loss(0).total.item();
            };
            const double whole = loss_of(72, 0);
            EXPECT_EQ(loss_of(72, 5), whole);
            std::vector<std::vector<double>> epochs;
            for (const int64_t epoch : {0, 1}) {
                std::vector<double>& losses = epochs.emplace_back();
                double sum = 0;
                for (int64_t batch = 0; batch < 8; ++batch) {
                    losses.push_back(loss_of(9, 8 * epoch + batch));
                    sum += losses.back() / 8;
                }
                EXPECT_NEAR(sum, whole, 1e-12 * whole) << data << fit << epoch;
            }
            EXPECT_NE(epochs[0], epochs[1]) << "the order is the same in every epoch";
            EXPECT_NE(epochs[0][0], epochs[0][1]);
        }
}

TEST(SirenBatches, TrainAPicture) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    const Trained trained = train_in(
        folder.path() / "run",
        "kind: siren\ndata: {size: [16, 15], batch_size: 50}\n"
        "network: {hidden_layers: 2, width: 48}\n"
        "training: {phases: [{steps: 600, optimizer: {kind: adam, learning_rate: 1e-3}}]}\n");
    ASSERT_EQ(trained.error, "");
    EXPECT_GT(trained.result.metrics[0].second, 24);
}

TEST(SirenImages, SizesThatCannotBeAreRefused) {
    const TemporaryFolder folder;
    const auto image = task_of(fmt::format("data: {{size: [6, 8]}}\n{}", small_network));
    const auto sound =
        task_of(fmt::format("data: {{kind: audio, seconds: 0.01}}\n{}", small_network));
    const auto message = [&](SirenTask& task, const std::vector<int64_t>& size) {
        const Thrown thrown = error_of([&] { task.render(folder.path(), {size, false}); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config);
        return thrown.text;
    };
    EXPECT_EQ(message(*image, {9}), "--size: 9 is no size of an image; write HEIGHTxWIDTH");
    EXPECT_EQ(message(*image, {1 << 20, 1 << 20}),
              "--size: 1048576x1048576 are more than the 134 million pixels that are possible");
    EXPECT_EQ(message(*sound, {9, 9}), "--size: 9x9 is no size of a sound; write SAMPLES");
    EXPECT_EQ(message(*sound, {int64_t{1} << 40}),
              "--size: 1099511627776 are more than the 134 million values that are possible");
    EXPECT_EQ(folder.entries(), 0);
}

// u = v sin(ω (a x + b y + c)) + d for each channel, in closed form.
struct Wave {
    double a = 0.31, b = -0.22, c = 0.1, omega = 12;
    std::vector<double> v{0.5, -0.3, 0.2};
    void put_into(SirenTask& task) const {
        auto tensors = tensors_of(task);
        tensors["layer_0.weight"].copy_from(Tensor::from<double>({a, b}, {1, 2}));
        tensors["layer_0.bias"].fill(c);
        tensors["layer_1.weight"].copy_from(Tensor::from(v, {3, 1}));
    }
    double phase(double x, double y) const { return omega * (a * x + b * y + c); }
    // In units of one pixel of distance hx and hy.
    double gradient_x(double x, double y, double hx) const {
        return omega * a * hx * std::cos(phase(x, y));
    }
    double gradient_y(double x, double y, double hy) const {
        return omega * b * hy * std::cos(phase(x, y));
    }
    double laplacian(double x, double y, double hx, double hy) const {
        return -omega * omega * (a * a * hx * hx + b * b * hy * hy) * std::sin(phase(x, y));
    }
};

constexpr const char* one_wave =
    "precision: float64\nnetwork: {hidden_layers: 1, width: 1, first_omega: 12}\n";

TEST(SirenImages, GradientAndLaplacianPicturesAreThoseOfTheFunction) {
    const TemporaryFolder folder;
    const auto task = task_of(std::string(one_wave) + "data: {size: [13, 9]}\n");
    const Wave wave;
    wave.put_into(*task);
    for (const auto& [height, width, suffix] :
         {std::tuple{13, 9, ""}, {20, 31, "_20x31"}, {1, 17, "_1x17"}}) {
        const RenderRequest request{
            *suffix ? std::vector<int64_t>{height, width} : std::vector<int64_t>{}, true};
        const auto names = task->render(folder.path(), request);
        EXPECT_EQ(names, (std::vector<std::string>{fmt::format("gradient{}.png", suffix),
                                                   fmt::format("laplacian{}.png", suffix)}));
        const double hx = 2.0 / (width - 1), hy = height == 1 ? 0 : 2.0 / (height - 1);
        std::vector<double> gradient, laplacian;
        for (int row = 0; row < height; ++row)
            for (int column = 0; column < width; ++column) {
                const double x = -1 + hx * column, y = height == 1 ? 0 : -1 + hy * row;
                for (const double v : wave.v) {
                    gradient.push_back(std::abs(v) * std::hypot(wave.gradient_x(x, y, hx),
                                                                wave.gradient_y(x, y, hy)));
                    laplacian.push_back(v * wave.laplacian(x, y, hx, hy));
                }
            }
        const auto compare = [&](const std::string& name, const std::vector<double>& field,
                                 bool has_signs) {
            double squares = 0;
            for (const double value : field) squares += value * value;
            const double white = 4 * std::sqrt(squares / static_cast<double>(field.size()));
            const auto levels = read_image(folder / name).pixels.to_vector<float>();
            ASSERT_EQ(levels.size(), field.size()) << name;
            for (std::size_t i = 0; i < field.size(); ++i) {
                const double level = field[i] / white;
                EXPECT_NEAR(levels[i], std::clamp(has_signs ? 0.5 + 0.5 * level : level, 0.0, 1.0),
                            0.502 / 255)
                    << name << " " << i;
            }
        };
        compare(names[0], gradient, false);
        compare(names[1], laplacian, true);
    }
}

TEST(SirenImages, DerivativePicturesOfAFlatNetworkAndOfAlpha) {
    const TemporaryFolder folder;
    write_file(folder / "in.png", make_png({6, 8}, 3, 4, random_levels(48, 8, 3)));
    const auto task = task_of(fmt::format("{}data: {{image: {}}}\n", one_wave, folder / "in.png"));
    tensors_of(*task)["layer_1.weight"].fill(0);
    task->render(folder.path(), {{}, true});
    const Image gradient = read_image(folder / "gradient.png");
    const Image laplacian = read_image(folder / "laplacian.png");
    EXPECT_EQ(gradient.pixels.shape(), (Shape{3, 4, 3}));
    EXPECT_EQ(max(gradient.pixels).item(), 0);
    EXPECT_EQ(min(laplacian.pixels).item(), max(laplacian.pixels).item());
    EXPECT_NEAR(max(laplacian.pixels).item(), 0.5, 0.003);
}

// The loss against the closed form of the network and differences of the picture, written out here.
TEST(SirenFits, LossesCompareDerivativesOfOnePixel) {
    const TemporaryFolder folder;
    const int height = 5, width = 7;
    const std::vector<int> levels = random_levels(height * width * 3, 8, 9);
    write_file(folder / "in.png", make_png({2, 8}, height, width, levels));
    const Wave wave;
    const double hx = 2.0 / (width - 1), hy = 2.0 / (height - 1);
    const auto value = [&](int row, int column, int c) {
        return 2 * (levels[static_cast<std::size_t>((row * width + column) * 3 + c)] / 255.0) - 1;
    };
    // Three-point stencils of the parabola through the nearest three pixels.
    const auto slope = [](auto&& f, int i, int count) {
        if (i == 0) return -1.5 * f(0) + 2 * f(1) - 0.5 * f(2);
        if (i == count - 1) return 1.5 * f(i) - 2 * f(i - 1) + 0.5 * f(i - 2);
        return 0.5 * (f(i + 1) - f(i - 1));
    };
    const auto curvature = [](auto&& f, int i, int count) {
        const int middle = std::clamp(i, 1, count - 2);
        return f(middle - 1) - 2 * f(middle) + f(middle + 1);
    };
    double gradient = 0, laplacian = 0;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column)
            for (int c = 0; c < 3; ++c) {
                const double x = -1 + hx * column, y = -1 + hy * row;
                const auto along_x = [&](int i) { return value(row, i, c); };
                const auto along_y = [&](int i) { return value(i, column, c); };
                const double v = wave.v[static_cast<std::size_t>(c)];
                gradient +=
                    std::pow(v * wave.gradient_x(x, y, hx) - slope(along_x, column, width), 2) +
                    std::pow(v * wave.gradient_y(x, y, hy) - slope(along_y, row, height), 2);
                laplacian +=
                    std::pow(v * wave.laplacian(x, y, hx, hy) - curvature(along_x, column, width) -
                                 curvature(along_y, row, height),
                             2);
            }
    const double values = height * width * 3;
    for (const auto& [fit, wanted] :
         {std::pair{"gradient", gradient / (2 * values)}, {"laplacian", laplacian / values}}) {
        const auto task = task_of(fmt::format("{}data: {{image: {}}}\nloss: {{fit: {}}}\n",
                                              one_wave, folder / "in.png", fit));
        wave.put_into(*task);
        ASSERT_EQ(task->parts(), 1);
        EXPECT_NEAR(task->loss(0).total.item(), wanted, 1e-6 * wanted) << fit;
    }
}

TEST(SirenFits, WhatAFitCannotSeeDoesNotChangeItsFigures) {
    const auto metrics = [](SirenTask& task) {
        std::vector<double> values;
        for (const auto& [name, value] : task.evaluate()) values.push_back(value);
        return values;
    };
    for (const char* fit : {"value", "gradient", "laplacian"}) {
        const auto task =
            task_of(fmt::format("precision: float64\ndata: {{size: [6, 8]}}\nloss: {{fit: {}}}\n{}",
                                fit, small_network));
        const auto before = metrics(*task);
        ASSERT_EQ(before.size(), task->metric_names().size());
        const double loss = task->loss(0).total.item();
        const Tensor bias = tensors_of(*task)["layer_2.bias"];
        bias.copy_from(bias + Tensor::from<double>({0.5, -2, 10}, {3}));
        const auto after = metrics(*task);
        const bool free = std::string(fit) != "value";
        EXPECT_EQ(free, std::abs(after[0] - before[0]) < 1e-9) << fit;
        EXPECT_EQ(free, task->loss(0).total.item() == loss) << fit;
        EXPECT_EQ(task->metric_names().size(), free ? 3u : 2u);
        if (free) {
            EXPECT_EQ(task->metric_names()[2], std::string(fit) + "_error");
        }
    }
}

TEST(SirenFits, ImagesTooSmallForADerivativeAreRefused) {
    const auto message = [](const char* fit, const char* size) {
        const Thrown thrown = error_of(
            [&] { task_of(fmt::format("data: {{size: {}}}\nloss: {{fit: {}}}\n", size, fit)); });
        EXPECT_TRUE(thrown.text.empty() || thrown.code == ExitCode::bad_config);
        return thrown.text;
    };
    EXPECT_EQ(message("gradient", "[1, 1]"),
              "loss.fit: gradient needs 2 samples along an axis, the image has 1x1");
    EXPECT_EQ(message("laplacian", "[2, 2]"),
              "loss.fit: laplacian needs 3 samples along an axis, the image has 2x2");
    EXPECT_EQ(message("gradient", "[1, 2]"), "");
    EXPECT_EQ(message("laplacian", "[3, 1]"), "");
}

// Trained on derivatives alone, the picture appears.
TEST(SirenFits, APictureIsFoundFromItsGradientOrLaplacian) {
    const NoPrograms no_programs;
    for (const auto& [fit, decibels] : {std::pair{"gradient", 24.0}, {"laplacian", 18.0}}) {
        const TemporaryFolder folder;
        const Trained trained = train_in(
            folder.path() / "run",
            fmt::format("kind: siren\ndata: {{size: [16, 20]}}\nloss: {{fit: {}}}\n"
                        "network: {{hidden_layers: 2, width: 48, omega: 10, first_omega: 20}}\n"
                        "training: {{phases: [{{steps: 250, optimizer: {{kind: adam, "
                        "learning_rate: 2e-3}}}}], evaluate_every: 250, log_every: 250}}\n",
                        fit));
        ASSERT_EQ(trained.error, "");
        EXPECT_GT(trained.result.metrics[0].second, decibels) << fit;
        for (const char* name : {"reconstruction.png", "gradient.png", "laplacian.png"})
            EXPECT_TRUE(fs::exists(folder.path() / "run/pictures" / name)) << name;
    }
}

TEST(SirenFits, RunsInPiecesAndOnOtherThreadsGiveTheSameBits) {
    const NoPrograms no_programs;
    for (const char* data :
         {"{size: [9, 11], batch_size: 20}", "{kind: audio, seconds: 0.02, batch_size: 60}"})
        for (const char* fit : {"gradient", "laplacian"}) {
            const auto config = [&](int steps, int threads) {
                return fmt::format(
                    "kind: siren\nthreads: {}\ndata: {}\nloss: {{fit: {}}}\n"
                    "network: {{hidden_layers: 2, width: 8, activation: finer}}\n"
                    "training: {{phases: [{{steps: {}}}], log_every: 1, evaluate_every: 4}}\n",
                    threads, data, fit, steps);
            };
            const int before = thread_count();
            const TemporaryFolder straight, cut;
            set_thread_count(1);
            const Trained whole = train_in(fs::path(straight.path()) / "run", config(12, 1));
            train_in(fs::path(cut.path()) / "run", config(5, 1));
            set_thread_count(2);
            const Trained pieces = train_in(fs::path(cut.path()) / "run", config(12, 1));
            set_thread_count(before);
            EXPECT_EQ(whole.parameters, pieces.parameters) << data << fit;
            EXPECT_EQ(whole.result.metrics, pieces.result.metrics) << data << fit;
        }
}

TEST(SirenSounds, APerfectFitOfAnySoundIsThatSound) {
    const auto draw = [](uint64_t i) {
        return random_uniform<double>({8, RandomStream::user, 0}, i);
    };
    for (const SampleFormat format : {SampleFormat::pcm8, SampleFormat::pcm16})
        for (const int channels : {1, 2}) {
            const TemporaryFolder folder;
            std::vector<double> samples;
            for (int i = 0; i < 12; ++i) samples.push_back(0.3 * (2 * draw(i) - 1));
            write_wav(folder / "in.wav",
                      {Tensor::from(samples, {12 / channels, channels}), 8000, format});
            const fs::path pictures =
                fit_perfectly(folder, fmt::format("{{kind: audio, sound: {}}}", folder / "in.wav"));
            for (const char* name : {"reconstruction.wav", "original.wav"})
                EXPECT_EQ(read_file((pictures / name).string()), read_file(folder / "in.wav"))
                    << channels << " " << name;
        }
}

TEST(SirenSounds, FiguresAreRatiosOfPowers) {
    const TemporaryFolder folder;
    write_wav(folder / "in.wav", {Tensor::from<double>({0.25, -0.125, 0.0625, 0.25}, {4, 1}), 8000,
                                  SampleFormat::pcm16});
    const auto task =
        task_of(fmt::format("precision: float64\ndata: {{kind: audio, sound: {}}}\n"
                            "network: {{hidden_layers: 1, width: 1}}\n",
                            folder / "in.wav"));
    auto tensors = tensors_of(*task);
    tensors["layer_1.weight"].fill(0);
    tensors["layer_1.bias"].fill(0.5);
    // The loudest is 0.25, so values are four times the samples: 1, -0.5, 0.25, 1.
    const double error = (0.25 + 1 + 0.0625 + 0.25) / 4, power = (1 + 0.25 + 0.0625 + 1) / 4;
    const NamedValues metrics = task->evaluate();
    ASSERT_EQ(metrics.size(), 3u);
    EXPECT_EQ(metrics[0].first, "snr");
    EXPECT_NEAR(metrics[0].second, 10 * std::log10(power / error), 1e-9);
    EXPECT_EQ(metrics[1].first, "psnr");
    EXPECT_NEAR(metrics[1].second, 10 * std::log10(4 / error), 1e-9);
    EXPECT_EQ(metrics[2].first, "max_error");
    EXPECT_NEAR(metrics[2].second, 1, 1e-12);
    // Written at the sound's own loudness, at seven samples in the same time.
    EXPECT_EQ(task->render(folder.path(), {{7}, false}),
              std::vector<std::string>{"reconstruction_7.wav"});
    const Sound sound = read_wav(folder / "reconstruction_7.wav");
    EXPECT_EQ(sound.rate, 16000);
    EXPECT_EQ(sound.samples.to_vector<double>(), std::vector<double>(7, 0.125));
}

TEST(SirenSounds, SilenceTrainsAndHasFiniteFigures) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    write_wav(folder / "in.wav", {Tensor::zeros({5, 2}, DType::float64), 8000});
    const Trained trained = train_in(
        folder.path() / "run",
        fmt::format(
            "kind: siren\ndata: {{kind: audio, sound: {}}}\n"
            "network: {{hidden_layers: 1, width: 4}}\ntraining: {{phases: [{{steps: 3}}]}}\n",
            folder / "in.wav"));
    EXPECT_EQ(trained.error, "");
    for (const auto& [name, value] : trained.result.metrics)
        EXPECT_TRUE(std::isfinite(value)) << name;
}

TEST(SirenSounds, LengthsThatCannotBeAreRefused) {
    const TemporaryFolder folder;
    write_wav(folder / "in.wav", {Tensor::zeros({80, 1}, DType::float64), 8000});
    const auto message = [&](const std::string& data) {
        const Thrown thrown = error_of([&] { task_of("data: {kind: audio, " + data + "}\n"); });
        return thrown.text;
    };
    const std::string path = folder / "in.wav";
    EXPECT_EQ(message(fmt::format("sound: {}, seconds: 0.02", path)),
              fmt::format("data.seconds: 0.02 s are 160 samples, {} has 80 (0.01 s)", path));
    EXPECT_EQ(message("seconds: 1e-5"), "data.seconds: 1e-05 s at 8000 Hz hold no sample");
    EXPECT_EQ(message("seconds: 0.01, batch_size: 81"),
              "data.batch_size: 81 is more than the sound's 80 samples");
    EXPECT_EQ(message(fmt::format("sound: {}, seconds: 0.01", path)), "");
}

// siren#1: a frequency far below that of the signal learns nothing, and nobody says why.
TEST(SirenWarnings, TellOfAFirstFrequencyFarBelowTheSignals) {
    const auto warnings = [](const std::string& yaml) { return task_of(yaml)->remarks(); };
    EXPECT_TRUE(warnings("data: {size: [512, 512]}\n").empty());
    EXPECT_TRUE(
        warnings("data: {kind: audio, seconds: 8}\nnetwork: {first_omega: 3000}\n").empty());
    const auto slow = warnings("data: {kind: audio, seconds: 8}\n");
    ASSERT_EQ(slow.size(), 1u);
    // Nyquist's frequency of 64000 samples over [-1, 1] is π 63999 / 2; a 200th of it is 503.
    EXPECT_EQ(slow[0],
              "warning: network.first_omega: 30 is far too low for 64000 samples along an axis: "
              "fine detail "
              "will be learnt slowly or not at all; try 5e+02 or more");
    EXPECT_EQ(warnings("data: {size: [16, 300]}\nnetwork: {first_omega: 1}\n").size(), 1u);
    EXPECT_TRUE(warnings("data: {size: [1, 1]}\nnetwork: {first_omega: 1}\n").empty());
    EXPECT_TRUE(
        warnings("data: {size: [16, 300]}\nnetwork: {first_omega: 1, activation: gaussian}\n")
            .empty());
}

TEST(SirenActivations, EveryOneLearnsASmallPicture) {
    const NoPrograms no_programs;
    for (const char* network :
         {"activation: sin", "activation: finer, first_bias: 1",
          "activation: gaussian, omega: 6, first_omega: 6, initialization: fan_in",
          "activation: wire, omega: 8, first_omega: 8, envelope: 4, initialization: fan_in"}) {
        const TemporaryFolder folder;
        const Trained trained =
            train_in(folder.path() / "run",
                     fmt::format("kind: siren\ndata: {{size: [16, 16]}}\n"
                                 "network: {{hidden_layers: 2, width: 48, {}}}\n"
                                 "training: {{phases: [{{steps: 200, optimizer: {{kind: adam, "
                                 "learning_rate: 2e-3}}}}]}}\n",
                                 network));
        ASSERT_EQ(trained.error, "") << network;
        EXPECT_GT(trained.result.metrics[0].second, 24) << network;
    }
}

}  // namespace
}  // namespace ralimp
