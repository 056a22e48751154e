#include "data/point_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/error.h"
#include "data/hdf5_reader.h"
#include "data/number_table.h"

namespace ralimp {
namespace {

using Lists = std::vector<std::vector<double>>;

std::vector<double> read_dataset(const std::string& path, const std::string& name) {
    const Tensor values = read_hdf5_dataset(path, name);
    if (values.dims() != 1)
        fail_with(ExitCode::bad_input, "{}: dataset {} has shape {}; one axis is expected", path,
                  name, values.shape());
    std::vector<double> list = values.to_vector<double>();
    if (list.empty()) fail_with(ExitCode::bad_input, "{}: dataset {} is empty", path, name);
    for (std::size_t row = 0; row < list.size(); ++row)
        if (!std::isfinite(list[row]))
            fail_with(ExitCode::bad_input, "{}: dataset {} holds {} in row {}", path, name,
                      list[row], row + 1);
    return list;
}

Lists read_datasets(const std::string& path, const std::vector<std::string>& names) {
    Lists lists;
    for (const std::string& name : names) {
        lists.push_back(read_dataset(path, name));
        if (lists.back().size() != lists[0].size())
            fail_with(ExitCode::bad_input, "{}: dataset {} has {} numbers, {} has {}", path, name,
                      lists.back().size(), names[0], lists[0].size());
    }
    return lists;
}

Lists read_columns(const std::string& path, const std::vector<std::string>& names) {
    const NumberTable table = read_number_table(path);
    const auto column_of = [&](const std::string& name) {
        return std::find(table.columns.begin(), table.columns.end(), name);
    };
    std::vector<std::string> missing;
    for (const std::string& name : names)
        if (column_of(name) == table.columns.end()) missing.push_back(name);
    if (!missing.empty())
        fail_with(ExitCode::bad_input, "{}: has no column {}; it has {}", path,
                  fmt::join(missing, ", "), fmt::join(table.columns, ", "));
    Lists lists;
    for (const std::string& name : names) {
        const auto found = column_of(name);
        const std::vector<double> values = table.values.to_vector<double>();
        std::vector<double>& list = lists.emplace_back();
        for (auto i = static_cast<std::size_t>(found - table.columns.begin()); i < values.size();
             i += table.columns.size())
            list.push_back(values[i]);
    }
    return lists;
}

}  // namespace

Tensor read_point_file(const std::string& path, const std::vector<std::string>& names) {
    const Lists lists = is_hdf5_file(path) ? read_datasets(path, names) : read_columns(path, names);
    std::vector<double> values;
    for (std::size_t row = 0; row < lists[0].size(); ++row)
        for (const std::vector<double>& list : lists) values.push_back(list[row]);
    return Tensor::from(
        values, {static_cast<int64_t>(lists[0].size()), static_cast<int64_t>(lists.size())});
}

}  // namespace ralimp
