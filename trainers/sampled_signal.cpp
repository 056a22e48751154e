#include "trainers/sampled_signal.h"

#include "trainers/audio_signal.h"
#include "trainers/image_signal.h"

namespace ralimp {
namespace {

std::unique_ptr<SampledSignal> make(const ImageDataConfig& config) {
    return std::make_unique<ImageSignal>(config);
}
std::unique_ptr<SampledSignal> make(const AudioDataConfig& config) {
    return std::make_unique<AudioSignal>(config);
}

}  // namespace

std::unique_ptr<SampledSignal> make_signal(const SignalConfig& config) {
    return std::visit([](const auto& kind) { return make(kind); }, config);
}

}  // namespace ralimp
