// A sound as a signal: amplitudes over time, a channel each for left and right.
#pragma once
#include "data/wav.h"
#include "trainers/sampled_signal.h"

namespace ralimp {

class AudioSignal : public SampledSignal {
public:
    explicit AudioSignal(const AudioDataConfig& config);

    std::string name() const override { return "sound"; }
    const Grid& grid() const override { return grid_; }
    // Multiplied by the power of two that brings the loudest sample into (0.5, 1], which loses no
    // bit; a quiet recording would train slowly.
    Tensor values(DType dtype) const override;
    int64_t channels() const override { return sound_.channels(); }
    std::vector<std::string> metric_names() const override { return {"snr", "psnr", "max_error"}; }
    // snr: 10 log10(power of the sound / power of the error) in dB; psnr over the range [-1, 1].
    NamedValues metrics(const Tensor& reconstruction, const Tensor& values) const override;
    std::vector<std::string> draw(const std::filesystem::path& folder,
                                  const Tensor& reconstruction) const override;
    void check_grid(const Grid& grid) const override;
    // Other numbers of samples are other rates: the sound lasts as long.
    std::string write(const std::filesystem::path& folder, const std::string& stem,
                      const Tensor& reconstruction, const Grid& grid) const override;
    // A curve for each channel.
    std::string write_field(const std::filesystem::path& folder, const std::string& stem,
                            const Tensor& field, const Grid& grid, bool has_signs) const override;

private:
    Sound sound_;
    Grid grid_;         // {samples}
    double scale_ = 1;  // of the values
};

}  // namespace ralimp
