#include "trainers/audio_signal.h"

#include <algorithm>
#include <cmath>

#include "data/image.h"
#include "data/synthetic_tone.h"
#include "trainers/plot.h"

namespace ralimp {
namespace {

constexpr int64_t tone_rate = 8000;
constexpr const char* channel_names[] = {"left", "right"};

Sound load(const AudioDataConfig& config) {
    if (!config.sound) {
        const double seconds = config.seconds.value_or(1);
        if (std::round(seconds * tone_rate) < 1)
            fail_with(ExitCode::bad_config, "data.seconds: {} s at {} Hz hold no sample", seconds,
                      tone_rate);
        return synthetic_tone(seconds, tone_rate);
    }
    Sound sound = read_wav(config.sound->string());
    if (config.seconds) {
        const double wanted = std::round(*config.seconds * static_cast<double>(sound.rate));
        if (wanted < 1 || wanted > static_cast<double>(sound.length()))
            fail_with(ExitCode::bad_config,
                      "data.seconds: {} s are {} samples, {} has {} ({:.6g} s)", *config.seconds,
                      wanted, config.sound->string(), sound.length(), sound.seconds());
        sound.samples = slice(sound.samples, 0, 0, static_cast<int64_t>(wanted)).contiguous();
    }
    return sound;
}

// The power of two that brings the loudest sample into (0.5, 1].
double scale_for(const Sound& sound) {
    const double loudest = max(abs(sound.samples)).item();
    return loudest == 0 ? 1 : std::ldexp(1.0, -static_cast<int>(std::ceil(std::log2(loudest))));
}

// At most so many points of a curve, so that a picture of a long sound shows its envelope: the
// lowest and the highest value of each stretch.
constexpr int64_t most_stretches = 1000;

Curve curve_of(const std::string& label, const Tensor& values, int64_t channel, double seconds,
               CurveStyle style = CurveStyle::line) {
    const auto all = select(values, 1, channel).to_doubles();
    const auto count = static_cast<int64_t>(all.size());
    const int64_t stretches = std::min(count, most_stretches);
    Curve curve{label, {}, {}, style};
    const auto add = [&](int64_t i) {
        curve.x.push_back(seconds * static_cast<double>(i) / static_cast<double>(count));
        curve.y.push_back(all[static_cast<std::size_t>(i)]);
    };
    for (int64_t k = 0; k < stretches; ++k) {
        const auto begin = all.begin() + k * count / stretches;
        const auto [low, high] =
            std::minmax_element(begin, all.begin() + (k + 1) * count / stretches);
        add(std::min(low, high) - all.begin());
        if (low != high) add(std::max(low, high) - all.begin());
    }
    return curve;
}

std::string title_of(const char* text, int64_t channel, int64_t channels) {
    return channels == 1 ? text : fmt::format("{}, {}", text, channel_names[channel]);
}

}  // namespace

AudioSignal::AudioSignal(const AudioDataConfig& config)
    : sound_(load(config)), grid_{sound_.length()}, scale_(scale_for(sound_)) {}

Tensor AudioSignal::values(DType dtype) const { return to(sound_.samples * scale_, dtype); }

NamedValues AudioSignal::metrics(const Tensor& reconstruction, const Tensor& values) const {
    const double peak = psnr(reconstruction, values, 2);
    const double power = mean(square(to(values, DType::float64))).item();
    // The mean square that a psnr of 0 stands for is 4; a silent sound has no ratio but the worst.
    const double snr = power == 0
                           ? (peak == psnr_cap ? psnr_cap : -psnr_cap)
                           : std::clamp(peak + 10 * std::log10(power / 4), -psnr_cap, psnr_cap);
    return {{"snr", snr}, {"psnr", peak}, {"max_error", max(abs(reconstruction - values)).item()}};
}

std::vector<std::string> AudioSignal::draw(const std::filesystem::path& folder,
                                           const Tensor& reconstruction) const {
    std::vector<std::string> names{write(folder, "reconstruction", reconstruction, grid_),
                                   "original.wav"};
    write_wav((folder / names.back()).string(), sound_);
    const Tensor original = values(DType::float64);
    const Tensor network = to(reconstruction, DType::float64);
    std::vector<CurvePanel> panels;
    for (int64_t channel = 0; channel < channels(); ++channel) {
        const double seconds = sound_.seconds();
        panels.push_back({title_of("sound", channel, channels()),
                          "seconds",
                          "amplitude",
                          {curve_of("original", original, channel, seconds),
                           curve_of("network", network, channel, seconds)}});
        panels.push_back({title_of("error", channel, channels()),
                          "seconds",
                          "",
                          {curve_of("", network - original, channel, seconds)}});
    }
    plot_curves((folder / "waveform.png").string(), panels);
    names.push_back("waveform.png");
    return names;
}

void AudioSignal::check_grid(const Grid& grid) const {
    if (grid.size() != 1)
        fail_with(ExitCode::bad_config, "--size: {} is no size of a sound; write SAMPLES",
                  to_string_of(grid));
    if (grid[0] > most_sound_values / channels())
        fail_with(ExitCode::bad_config,
                  "--size: {} are more than the {} million values that are possible",
                  to_string_of(grid), most_sound_values / 1000000);
}

std::string AudioSignal::write(const std::filesystem::path& folder, const std::string& stem,
                               const Tensor& reconstruction, const Grid& grid) const {
    Sound sound{to(reconstruction, DType::float64) * (1 / scale_), sound_.rate, sound_.format};
    if (grid != grid_ && sound_.length() > 1)
        sound.rate = std::max<int64_t>(
            1, std::llround(static_cast<double>(sound_.rate) * static_cast<double>(grid[0] - 1) /
                            static_cast<double>(sound_.length() - 1)));
    write_wav((folder / (stem + ".wav")).string(), sound);
    return stem + ".wav";
}

std::string AudioSignal::write_field(const std::filesystem::path& folder, const std::string& stem,
                                     const Tensor& field, const Grid&, bool) const {
    std::vector<CurvePanel> panels;
    for (int64_t channel = 0; channel < channels(); ++channel)
        panels.push_back({title_of(stem.c_str(), channel, channels()),
                          "seconds",
                          "",
                          {curve_of("", field, channel, sound_.seconds())}});
    plot_curves((folder / (stem + ".png")).string(), panels);
    return stem + ".png";
}

}  // namespace ralimp
