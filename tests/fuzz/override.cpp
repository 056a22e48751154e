// key.path=value arguments, one a line.
#include "tests/fuzz/fuzz.h"
#include "trainers/config.h"
#include "trainers/run_config.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    std::vector<std::string> overrides;
    std::string_view rest = fuzz::text_of(data, size);
    while (!rest.empty()) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        overrides.emplace_back(rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    fuzz::accepts([&] { read_config_text<RunConfig>("kind: pinn\n", "fuzz", overrides); },
                  ExitCode::bad_config, 3);
    return 0;
}
