// YAML -> config -> YAML. What is accepted must come back as it was written.
#include "trainers/config.h"

#include "tests/fuzz/fuzz.h"
#include "trainers/config_differences.h"
#include "trainers/run_config.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    const std::string_view text = fuzz::text_of(data, size);
    RunConfig config;
    const auto read = [&] { config = read_config_text<RunConfig>(text, "fuzz"); };
    if (!fuzz::accepts(read, ExitCode::bad_config, 3)) return 0;
    const std::string written = write_config(config);
    const auto again = read_config_text<RunConfig>(written, "written");
    fuzz::require(write_config(again) == written, "written otherwise:\n" + written);
    fuzz::require(config_differences(written, written).empty(), "differs from itself");
    return 0;
}
