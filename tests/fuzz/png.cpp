// PNG files.
#include "data/image_codecs.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    Samples samples;
    if (!fuzz::accepts([&] { samples = decode_png({data, size}, "fuzz"); }, ExitCode::bad_input))
        return 0;
    if (samples.bytes.size() > (1 << 20)) return 0;  // packing takes long
    const Samples again = decode_png(encode_png(samples), "again");
    fuzz::require(again.bytes == samples.bytes, "it is another picture when written and read");
    return 0;
}
