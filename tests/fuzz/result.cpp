// result.json.
#include "trainers/result.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    const fuzz::MemoryFile file(data, size);
    Result result;
    fuzz::accepts([&] { result = read_result(file.path()); }, ExitCode::bad_input);
    return 0;
}
