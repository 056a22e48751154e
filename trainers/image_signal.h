// An image as a signal: a channel each for grey, colours and alpha.
#pragma once
#include "data/image.h"
#include "trainers/sampled_signal.h"

namespace ralimp {

class ImageSignal : public SampledSignal {
public:
    explicit ImageSignal(const ImageDataConfig& config);

    std::string name() const override { return "image"; }
    const Grid& grid() const override { return grid_; }
    Tensor values(DType dtype) const override;
    int64_t channels() const override { return image_.channels(); }
    std::vector<std::string> metric_names() const override { return {"psnr", "max_error"}; }
    NamedValues metrics(const Tensor& reconstruction, const Tensor& values) const override;
    std::vector<std::string> draw(const std::filesystem::path& folder,
                                  const Tensor& reconstruction) const override;
    void check_grid(const Grid& grid) const override;
    std::string write(const std::filesystem::path& folder, const std::string& stem,
                      const Tensor& reconstruction, const Grid& grid) const override;
    // Colours alone, without alpha. White is four times the root mean square; 0 is black, with
    // signs middle grey.
    std::string write_field(const std::filesystem::path& folder, const std::string& stem,
                            const Tensor& field, const Grid& grid, bool has_signs) const override;

private:
    Image image_;
    Grid grid_;  // {height, width}
};

}  // namespace ralimp
