#include "trainers/siren.h"

#include <algorithm>

#include "autograd/operations.h"
#include "data/synthetic_picture.h"

namespace ralimp {
namespace {

// Rows that a data-dependent start looks at.
constexpr int64_t calibration_rows = 4096;

Image load(const SirenDataConfig& config) {
    const std::array<int64_t, 2> size = config.size.value_or(std::array<int64_t, 2>{256, 256});
    if (!config.image) return synthetic_picture(size[0], size[1]);
    Image image = read_image(config.image->string());
    if (config.size) {
        if (size[0] > image.height() || size[1] > image.width())
            fail_with(ExitCode::bad_config,
                      "data.size: {} x {} is larger than {} ({} x {}); images are only shrunk",
                      size[0], size[1], config.image->string(), image.height(), image.width());
        image = resize_area(image, size[0], size[1]);
    }
    return image;
}

// (x, y) of every pixel, row by row; an axis of one pixel lies at 0.
Tensor pixel_coordinates(int64_t height, int64_t width, DType dtype) {
    const auto at = [](int64_t i, int64_t count) {
        return count == 1 ? 0.0 : -1 + 2 * static_cast<double>(i) / static_cast<double>(count - 1);
    };
    std::vector<double> points;
    points.reserve(static_cast<std::size_t>(height * width * 2));
    for (int64_t row = 0; row < height; ++row)
        for (int64_t column = 0; column < width; ++column) {
            points.push_back(at(column, width));
            points.push_back(at(row, height));
        }
    return to(Tensor::from(points, {height * width, 2}), dtype);
}

}  // namespace

SirenTask::SirenTask(const SirenConfig& config)
    : config_(config),
      image_(load(config.data)),
      part_rows_(rows_per_part(1, config.network.width, dtype_of(config.run.precision))) {
    const DType dtype = dtype_of(config.run.precision);
    const int64_t pixels = image_.height() * image_.width();
    network_ = make_network(config.network, {{-1, -1}, {1, 1}}, image_.channels(), dtype,
                            static_cast<uint64_t>(config.run.seed));
    coordinates_ = pixel_coordinates(image_.height(), image_.width(), dtype);
    targets_ = to(reshape(image_.pixels, {pixels, image_.channels()}), dtype) * 2.0 - 1.0;
    if (config.data.batch_size > pixels)
        fail_with(ExitCode::bad_config, "data.batch_size: {} is more than the image's {} pixels",
                  config.data.batch_size, pixels);
    set_batch(0);
}

void SirenTask::set_batch(int64_t sample_step) {
    const int64_t pixels = coordinates_.size(0), size = config_.data.batch_size;
    if (size == 0 || size == pixels) {
        batch_coordinates_ = coordinates_;
        batch_targets_ = targets_;
        return;
    }
    // The last, shorter part of an epoch is left out, as the order differs from epoch to epoch.
    const int64_t batches = pixels / size, epoch = sample_step / batches;
    if (epoch != epoch_) {
        epoch_ = epoch;
        order_ = random_permutation(pixels, {static_cast<uint64_t>(config_.run.seed),
                                             RandomStream::batches, static_cast<uint32_t>(epoch)});
    }
    const int64_t begin = sample_step % batches * size;
    const Tensor rows = slice(order_, 0, begin, begin + size);
    batch_coordinates_ = index_select(coordinates_, 0, rows);
    batch_targets_ = index_select(targets_, 0, rows);
}

Tensor SirenTask::calibration_batch() const {
    const int64_t pixels = coordinates_.size(0);
    const Tensor order = random_permutation(
        pixels, {static_cast<uint64_t>(config_.run.seed), RandomStream::batches, 0xFFFFFFFFu});
    return index_select(coordinates_, 0, slice(order, 0, 0, std::min(pixels, calibration_rows)));
}

int64_t SirenTask::parts() const {
    return (batch_coordinates_.size(0) + part_rows_ - 1) / part_rows_;
}

Loss SirenTask::loss(int64_t part) const {
    const int64_t rows = batch_coordinates_.size(0), begin = part * part_rows_;
    const int64_t end = std::min(begin + part_rows_, rows);
    const Tensor difference = network_->forward(slice(batch_coordinates_, 0, begin, end)) -
                              slice(batch_targets_, 0, begin, end);
    // The mean over all pixels is the sum of the parts' shares of it.
    const double share = static_cast<double>(end - begin) / static_cast<double>(rows);
    const Tensor error = mean_error(config_.loss.kind, difference) * share;
    return {error, {{enum_name(config_.loss.kind), error}}};
}

Tensor SirenTask::reconstruct() const {
    const Tensor pixels =
        in_pieces(coordinates_, [&](const Tensor& x) { return network_->forward(x); });
    return reshape(pixels, image_.pixels.shape());
}

NamedValues SirenTask::evaluate() {
    const Tensor pixels = reconstruct(), targets = reshape(targets_, pixels.shape());
    return {{"psnr", psnr(pixels, targets, 2)}, {"max_error", max(abs(pixels - targets)).item()}};
}

std::vector<std::string> SirenTask::draw(const std::filesystem::path& folder) {
    const Tensor pixels = to(reconstruct() * 0.5 + 0.5, DType::float32);
    write_png((folder / "reconstruction.png").string(), {pixels, image_.bits});
    write_png((folder / "original.png").string(), image_);
    // Ten times the absolute error, so that 25 grey levels show as white.
    write_png((folder / "error_x10.png").string(), {abs(pixels - image_.pixels) * 10.0, 8});
    return {"reconstruction.png", "original.png", "error_x10.png"};
}

}  // namespace ralimp
