// JPEG files.
#include "data/image_codecs.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    fuzz::accepts([&] { decode_jpeg({data, size}, "fuzz"); }, ExitCode::bad_input);
    return 0;
}
