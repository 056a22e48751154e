#include "data/synthetic_tone.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace ralimp {
namespace {

constexpr double pi = 3.14159265358979323846;

// A string plucked at time 0: overtones fall off with their number, the higher ones fade faster.
double pluck(double frequency, double t) {
    if (t < 0) return 0;
    double sum = 0;
    for (int overtone = 1; overtone <= 6; ++overtone)
        sum +=
            std::sin(2 * pi * frequency * overtone * t) * std::exp(-2.5 * overtone * t) / overtone;
    // Half a period of rise keeps the attack free of a jump.
    return sum * std::min(1.0, 2 * frequency * t);
}

}  // namespace

Sound synthetic_tone(double seconds, int64_t rate) {
    const double count = std::round(seconds * static_cast<double>(rate));
    check(count >= 1 && count <= static_cast<double>(most_sound_values),
          "synthetic_tone: {} s at {} samples a second", seconds, rate);
    constexpr double notes[] = {220, 275, 330, 440};  // a just major chord
    Sound sound{Tensor::empty({static_cast<int64_t>(count), 1}, DType::float64), rate,
                SampleFormat::pcm16};
    auto* out = sound.samples.data<double>();
    for (int64_t i = 0; i < sound.length(); ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(rate);
        double sum = 0, start = 0;
        for (const double note : notes) {
            sum += pluck(note, t - start);
            start += 0.2;
        }
        out[i] = std::clamp(0.4 * sum, -0.9, 0.9);
    }
    return sound;
}

}  // namespace ralimp
