// PLY files.
#include "tests/fuzz/sound_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    Mesh mesh;
    if (!fuzz::accepts([&] { mesh = parse_ply({data, size}, "fuzz"); }, ExitCode::bad_input))
        return 0;
    fuzz::require_sound(mesh);
    return 0;
}
