// WAV files. What is read is written and read again to the same values.
#include "data/wav.h"

#include <cmath>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    Sound sound;
    if (!fuzz::accepts([&] { sound = decode_wav({data, size}, "fuzz"); }, ExitCode::bad_input))
        return 0;
    const auto values = sound.samples.to_vector<double>();
    fuzz::require(!values.empty() && values.size() <= size, "more values than bytes");
    for (const double value : values) fuzz::require(std::isfinite(value), "a value is not finite");
    const Sound again = decode_wav(encode_wav(sound), "again");
    fuzz::require(again.samples.to_vector<double>() == values && again.rate == sound.rate &&
                      again.format == sound.format && again.channels() == sound.channels(),
                  "it is another sound when written and read");
    return 0;
}
