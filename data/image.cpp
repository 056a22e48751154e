#include "data/image.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/parallel.h"
#include "data/image_codecs.h"

namespace ralimp {
namespace {

constexpr int64_t rows_of_a_chunk = 16;

bool has(const std::vector<uint8_t>& file, std::size_t offset, std::string_view text) {
    return file.size() >= offset + text.size() &&
           std::memcmp(file.data() + offset, text.data(), text.size()) == 0;
}

// What a file that is no PNG and no JPEG seems to be, to help who chose it.
std::string_view guess(const std::vector<uint8_t>& file) {
    using namespace std::string_view_literals;
    struct Kind {
        std::size_t offset;
        std::string_view text, name;
    };
    constexpr Kind kinds[] = {{0, "GIF8"sv, "GIF"},   {0, "II*\0"sv, "TIFF"},
                              {0, "MM\0*"sv, "TIFF"}, {8, "WEBP"sv, "WebP"},
                              {0, "BM"sv, "BMP"},     {4, "ftyp"sv, "HEIC or AVIF"},
                              {0, "v/1\1"sv, "EXR"},  {0, "\x89HDF"sv, "HDF5"}};
    for (const Kind& kind : kinds)
        if (has(file, kind.offset, kind.text)) return kind.name;
    return "";
}

template <class Sample>
void to_pixels(const Samples& samples, float* out) {
    const auto* in = reinterpret_cast<const Sample*>(samples.bytes.data());
    const int64_t count = samples.width * samples.channels;
    const auto largest = static_cast<float>((1 << samples.bits) - 1);
    parallel_for(samples.height, rows_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * count; i < end * count; ++i)
            out[i] = static_cast<float>(in[i]) / largest;
    });
}

template <class Sample, class T>
void to_samples(const T* in, Samples& samples) {
    auto* out = reinterpret_cast<Sample*>(samples.bytes.data());
    const int64_t count = samples.width * samples.channels;
    const auto largest = static_cast<double>((1 << samples.bits) - 1);
    parallel_for(samples.height, rows_of_a_chunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * count; i < end * count; ++i) {
            const auto value = static_cast<double>(in[i]);
            // The comparison is false for NaN.
            const double level = value > 0 ? std::min(value, 1.0) * largest : 0.0;
            out[i] = static_cast<Sample>(level + 0.5);
        }
    });
}

void check_image(const char* operation, const Image& image) {
    check(image.pixels.defined() && image.pixels.dims() == 3 && image.pixels.elements() > 0 &&
              image.channels() <= 4,
          "{}: a picture is [height, width, 1 to 4 channels], not {}", operation,
          to_string(image.pixels.shape()));
    check(image.bits == 8 || image.bits == 16, "{}: a picture has 8 or 16 bits, not {}", operation,
          image.bits);
}

// The part of [position, position + 1) · step that each old pixel from `first` on covers; the
// weights add up to 1. Counted in whole numbers, in units of 1 / (old size · new size).
struct Coverage {
    int64_t first;
    std::vector<double> weights;
};

std::vector<Coverage> coverages(int64_t old_size, int64_t new_size) {
    std::vector<Coverage> result;
    for (int64_t i = 0; i < new_size; ++i) {
        const int64_t begin = i * old_size, end = (i + 1) * old_size;
        Coverage coverage{begin / new_size, {}};
        for (int64_t j = coverage.first; j * new_size < end; ++j) {
            const int64_t overlap =
                std::min(end, (j + 1) * new_size) - std::max(begin, j * new_size);
            coverage.weights.push_back(static_cast<double>(overlap) /
                                       static_cast<double>(old_size));
        }
        result.push_back(std::move(coverage));
    }
    return result;
}

}  // namespace

void check_picture_size(int64_t height, int64_t width, const std::string& name) {
    if (height < 1 || width < 1)
        fail_with(ExitCode::bad_input, "{}: has no pixels ({} x {})", name, width, height);
    if (height > most_pixels / width)
        fail_with(ExitCode::bad_input,
                  "{}: has {} x {} pixels, more than the {} million that are accepted; shrink it "
                  "first",
                  name, width, height, most_pixels / 1000000);
}

Image read_image(const std::string& path) {
    const std::vector<uint8_t> file = read_file(path);
    if (file.empty()) fail_with(ExitCode::bad_input, "{}: is empty", path);
    Samples samples;
    if (has(file, 0, "\x89PNG\r\n\x1a\n")) {
        samples = decode_png(file, path);
    } else if (has(file, 0, "\xff\xd8\xff")) {
        samples = decode_jpeg(file, path);
    } else {
        const std::string_view kind = guess(file);
        fail_with(ExitCode::bad_input, "{}: is neither a PNG nor a JPEG file{}{}{}", path,
                  kind.empty() ? "" : " but seems to be ", kind,
                  kind.empty() ? "" : "; convert it to PNG first");
    }
    Image image{Tensor::empty({samples.height, samples.width, samples.channels}), samples.bits};
    auto* out = image.pixels.data<float>();
    samples.bits == 8 ? to_pixels<uint8_t>(samples, out) : to_pixels<uint16_t>(samples, out);
    return image;
}

void write_png(const std::string& path, const Image& image) {
    check_image("write_png", image);
    const Tensor pixels = image.pixels.contiguous();
    Samples samples{
        image.height(), image.width(), static_cast<int>(image.channels()), image.bits, {}};
    samples.bytes.resize(static_cast<std::size_t>(samples.height * samples.row_bytes()));
    dispatch_floating("write_png", pixels.dtype(), [&]<class T>(T) {
        const T* in = pixels.data<T>();
        image.bits == 8 ? to_samples<uint8_t>(in, samples) : to_samples<uint16_t>(in, samples);
    });
    write_file(path, encode_png(samples));
}

Image resize_area(const Image& image, int64_t height, int64_t width) {
    check_image("resize_area", image);
    check(height >= 1 && width >= 1 && height <= image.height() && width <= image.width(),
          "resize_area: {} x {} pixels can be shrunk to at least 1 x 1, not changed to {} x {}",
          image.width(), image.height(), width, height);
    const Tensor pixels = image.pixels.contiguous();
    const auto* in = pixels.data<float>();
    const int64_t channels = image.channels(), row = image.width() * channels;
    const auto across = coverages(image.width(), width), down = coverages(image.height(), height);

    Image result{Tensor::empty({height, width, channels}), image.bits};
    auto* out = result.pixels.data<float>();
    parallel_for(height, rows_of_a_chunk, [&](int64_t begin, int64_t end) {
        std::vector<double> sums(static_cast<std::size_t>(row));
        for (int64_t i = begin; i < end; ++i) {
            std::fill(sums.begin(), sums.end(), 0.0);
            const Coverage& rows = down[static_cast<std::size_t>(i)];
            for (std::size_t k = 0; k < rows.weights.size(); ++k) {
                const float* source = in + (rows.first + static_cast<int64_t>(k)) * row;
                for (int64_t j = 0; j < row; ++j)
                    sums[static_cast<std::size_t>(j)] += rows.weights[k] * source[j];
            }
            float* target = out + i * width * channels;
            for (int64_t j = 0; j < width; ++j) {
                const Coverage& columns = across[static_cast<std::size_t>(j)];
                for (int64_t c = 0; c < channels; ++c) {
                    const double* source = sums.data() + columns.first * channels + c;
                    double sum = 0;
                    for (std::size_t k = 0; k < columns.weights.size(); ++k)
                        sum += columns.weights[k] * source[static_cast<int64_t>(k) * channels];
                    *target++ = static_cast<float>(sum);
                }
            }
        }
    });
    return result;
}

Image blend_alpha(const Image& image, double background) {
    check_image("blend_alpha", image);
    check(background >= 0 && background <= 1, "blend_alpha: background {} is not in [0, 1]",
          background);
    const int64_t channels = image.channels(), colors = channels <= 2 ? 1 : 3;
    if (channels == colors) return image;
    const Tensor pixels = image.pixels.contiguous();
    Image result{Tensor::empty({image.height(), image.width(), colors}), image.bits};
    const auto* in = pixels.data<float>();
    auto* out = result.pixels.data<float>();
    const auto behind = static_cast<float>(background);
    for (int64_t i = 0; i < image.height() * image.width(); ++i, in += channels) {
        const float alpha = in[colors];
        for (int64_t c = 0; c < colors; ++c) *out++ = in[c] * alpha + behind * (1 - alpha);
    }
    return result;
}

double psnr(const Tensor& a, const Tensor& b, double data_range) {
    check(a.shape() == b.shape() && a.elements() > 0,
          "psnr: two tensors of one shape are needed, not {} and {}", to_string(a.shape()),
          to_string(b.shape()));
    check(a.dtype() == b.dtype(), "psnr: the tensors hold {} and {}", name_of(a.dtype()),
          name_of(b.dtype()));
    check(data_range > 0 && std::isfinite(data_range), "psnr: data range {} is not positive",
          data_range);
    constexpr int64_t grain = 1 << 16;
    const int64_t count = a.elements();
    std::vector<double> parts(static_cast<std::size_t>((count + grain - 1) / grain));
    const Tensor first = a.contiguous(), second = b.contiguous();
    dispatch_floating("psnr", a.dtype(), [&]<class T>(T) {
        const T *x = first.data<T>(), *y = second.data<T>();
        parallel_for(count, grain, [&](int64_t begin, int64_t end) {
            double sum = 0;
            for (int64_t i = begin; i < end; ++i) {
                const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
                sum += difference * difference;
            }
            parts[static_cast<std::size_t>(begin / grain)] = sum;
        });
    });
    double sum = 0;
    for (const double part : parts) sum += part;
    const double mean = sum / static_cast<double>(count);
    if (mean == 0) return psnr_cap;
    const double decibels = 10 * std::log10(data_range * data_range / mean);
    return decibels > psnr_cap ? psnr_cap : decibels;
}

}  // namespace ralimp
