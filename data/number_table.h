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

// Commas separate, spaces around entries and empty lines do not count, a line that starts with # is
// a comment. Error(bad_input), naming the file and line, for a file that is missing, has no header
// or no row, repeats a column, or holds a row of another length or an entry that is no finite
// number.
NumberTable read_number_table(const std::string& path);

}  // namespace ralimp
