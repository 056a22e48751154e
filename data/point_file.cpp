#include "data/point_file.h"

#include <cmath>

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

}  // namespace

Tensor read_point_file(const std::string& path, const std::vector<std::string>& names) {
    if (!is_hdf5_file(path)) return read_number_table(path, names).values;
    const Lists lists = read_datasets(path, names);
    std::vector<double> values;
    for (std::size_t row = 0; row < lists[0].size(); ++row)
        for (const std::vector<double>& list : lists) values.push_back(list[row]);
    return Tensor::from(
        values, {static_cast<int64_t>(lists[0].size()), static_cast<int64_t>(lists.size())});
}

}  // namespace ralimp
