// OBJ files.
#include "tests/fuzz/sound_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    Mesh mesh;
    const auto read = [&] { mesh = parse_obj(fuzz::text_of(data, size), "fuzz"); };
    if (!fuzz::accepts(read, ExitCode::bad_input)) return 0;
    fuzz::require_sound(mesh);
    return 0;
}
