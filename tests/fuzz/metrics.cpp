// metrics.csv of a run.
#include "trainers/metrics.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    const fuzz::MemoryFile file(data, size);
    fuzz::accepts(
        [&] {
            const MetricsTable table = read_metrics(file.path());
            for (const auto& row : table.rows)
                fuzz::require(row.size() == table.columns.size(), "a row of another length");
        },
        ExitCode::bad_input);
    return 0;
}
