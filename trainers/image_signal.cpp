#include "trainers/image_signal.h"

#include <cmath>

#include "data/synthetic_picture.h"

namespace ralimp {
namespace {

Image load(const ImageDataConfig& config) {
    const std::array<int64_t, 2> size = config.size.value_or(std::array<int64_t, 2>{256, 256});
    if (!config.image) {
        if (size[0] > most_pixels / size[1])
            fail_with(ExitCode::bad_config,
                      "data.size: {} x {} are more than the {} million pixels that are possible",
                      size[0], size[1], most_pixels / 1000000);
        return synthetic_picture(size[0], size[1]);
    }
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

// From [-1, 1] to [0, 1].
Tensor pixels_of(const Tensor& values, const Grid& grid) {
    return to(reshape(values, {grid[0], grid[1], values.size(1)}) * 0.5 + 0.5, DType::float32);
}

}  // namespace

ImageSignal::ImageSignal(const ImageDataConfig& config)
    : image_(load(config)), grid_{image_.height(), image_.width()} {}

Tensor ImageSignal::values(DType dtype) const {
    return to(reshape(image_.pixels, {points_of(grid_), channels()}), dtype) * 2.0 - 1.0;
}

NamedValues ImageSignal::metrics(const Tensor& reconstruction, const Tensor& values) const {
    return {{"psnr", psnr(reconstruction, values, 2)},
            {"max_error", max(abs(reconstruction - values)).item()}};
}

std::vector<std::string> ImageSignal::draw(const std::filesystem::path& folder,
                                           const Tensor& reconstruction) const {
    const Tensor pixels = pixels_of(reconstruction, grid_);
    write_png((folder / "reconstruction.png").string(), {pixels, image_.bits});
    write_png((folder / "original.png").string(), image_);
    // Ten times the absolute error, so that 25 grey levels show as white.
    write_png((folder / "error_x10.png").string(), {abs(pixels - image_.pixels) * 10.0, 8});
    return {"reconstruction.png", "original.png", "error_x10.png"};
}

void ImageSignal::check_grid(const Grid& grid) const {
    if (grid.size() != 2)
        fail_with(ExitCode::bad_config, "--size: {} is no size of an image; write HEIGHTxWIDTH",
                  to_string_of(grid));
    if (grid[0] > most_pixels / grid[1])
        fail_with(ExitCode::bad_config,
                  "--size: {} are more than the {} million pixels that are possible",
                  to_string_of(grid), most_pixels / 1000000);
}

std::string ImageSignal::write(const std::filesystem::path& folder, const std::string& stem,
                               const Tensor& reconstruction, const Grid& grid) const {
    write_png((folder / (stem + ".png")).string(), {pixels_of(reconstruction, grid), image_.bits});
    return stem + ".png";
}

std::string ImageSignal::write_field(const std::filesystem::path& folder, const std::string& stem,
                                     const Tensor& field, const Grid& grid, bool has_signs) const {
    const int64_t colors = channels() <= 2 ? 1 : 3;
    const Tensor shown = reshape(slice(field, 1, 0, colors), {grid[0], grid[1], colors});
    const double size = std::sqrt(mean(square(to(shown, DType::float64))).item());
    const Tensor relative = shown * (size > 0 ? 1 / (4 * size) : 0);
    write_png((folder / (stem + ".png")).string(),
              {has_signs ? relative * 0.5 + 0.5 : relative, 8});
    return stem + ".png";
}

}  // namespace ralimp
