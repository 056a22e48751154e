// CSV files of numbers.
#include "data/number_table.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    using namespace ralimp;
    const fuzz::MemoryFile file(data, size);
    fuzz::accepts(
        [&] {
            const NumberTable table = read_number_table(file.path());
            fuzz::require(table.values.size(1) == static_cast<int64_t>(table.columns.size()) &&
                              table.values.size(0) > 0,
                          "the table has another shape");
            const NumberTable last = read_number_table(file.path(), {table.columns.back()});
            fuzz::require(last.values.size(0) == table.values.size(0) && last.values.size(1) == 1,
                          "one column of it has another shape");
        },
        ExitCode::bad_input);
    return 0;
}
