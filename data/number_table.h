// A CSV file of numbers: a header with the names of the columns, then rows of as many numbers.
#pragma once
#include <string>
#include <vector>

#include "core/tensor.h"

namespace ralimp {

struct NumberTable {
    std::vector<std::string> columns;
    Tensor values;  // [rows, columns] float64
};

// The named columns, in the order of the names (none: all); what stands in others does not matter,
// texts for one. Commas
// separate, spaces around entries and empty lines do not count, a line that starts with # is a
// comment. Error(bad_input), naming the file and line, for a file that is missing, has no header
// or no row, lacks or repeats a column, or holds a row of another length or an entry in a named
// column that is no finite number.
NumberTable read_number_table(const std::string& path, const std::vector<std::string>& names = {});

}  // namespace ralimp
