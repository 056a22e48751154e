#include "trainers/field_data.h"

#include <limits>

#include <fmt/ranges.h>

#include "autograd/operations.h"
#include "core/error.h"
#include "core/file.h"
#include "data/hdf5_writer.h"

namespace ralimp {
namespace {

bool is_csv(const std::filesystem::path& file) { return file.extension() == ".csv"; }

std::vector<uint8_t> hdf5_of(const FieldData& data, const std::string& file) {
    const Hdf5ErrorsSilenced silenced;
    Hdf5Writer writer(file);
    const auto add = [&](const std::string& name, const Tensor& values, const Shape& shape) {
        writer.write(name, values.contiguous().data(), H5T_IEEE_F64LE, shape);
    };
    const bool is_grid = !data.positions.empty();
    Shape shape = is_grid ? Shape() : Shape{data.points.size(0)};
    for (std::size_t axis = 0; axis < data.axes.size(); ++axis) {
        if (!is_grid) {
            add(data.axes[axis], select(data.points, 1, static_cast<int64_t>(axis)), shape);
            continue;
        }
        const auto count = static_cast<int64_t>(data.positions[axis].size());
        add(data.axes[axis], Tensor::from(data.positions[axis], {count}), {count});
        shape.push_back(count);
    }
    const Tensor nothing =
        Tensor::full({1}, std::numeric_limits<double>::quiet_NaN(), DType::float64);
    for (std::size_t i = 0; i < data.names.size(); ++i) {
        const Tensor column = select(data.values, 1, static_cast<int64_t>(i));
        add(data.names[i], is_grid ? where(data.inside, column, nothing) : column, shape);
    }
    return writer.finish();
}

std::vector<uint8_t> csv_of(const FieldData& data, const std::string& file) {
    const int64_t rows = data.values.size(0);
    constexpr int64_t most_rows = 1 << 22;
    if (rows > most_rows)
        fail_with(ExitCode::bad_config,
                  "{}: {} rows are too many for a CSV file (at most {}); .h5 "
                  "takes them",
                  file, rows, most_rows);
    std::vector<uint8_t> text;
    const auto add = std::back_inserter(text);
    fmt::format_to(add, "{},{}\n", fmt::join(data.axes, ","), fmt::join(data.names, ","));
    const Tensor all_points = data.points.contiguous(), all_values = data.values.contiguous();
    const double* points = all_points.data<double>();
    const double* values = all_values.data<double>();
    const uint8_t* inside = data.inside.data<uint8_t>();
    const std::size_t axes = data.axes.size(), names = data.names.size();
    for (int64_t row = 0; row < rows; ++row, points += axes, values += names)
        if (data.positions.empty() || inside[row])
            fmt::format_to(add, "{},{}\n", fmt::join(points, points + axes, ","),
                           fmt::join(values, values + names, ","));
    return text;
}

}  // namespace

void check_field_file(const std::filesystem::path& file) {
    if (is_csv(file) || file.extension() == ".h5" || file.extension() == ".hdf5") return;
    fail_with(ExitCode::bad_config, "--output: '{}' ends neither in .csv nor in .h5 or .hdf5",
              file.string());
}

void write_field(const std::filesystem::path& file, const FieldData& data) {
    check_field_file(file);
    const std::string path = file.string();
    write_file(path, is_csv(file) ? csv_of(data, path) : hdf5_of(data, path));
}

}  // namespace ralimp
