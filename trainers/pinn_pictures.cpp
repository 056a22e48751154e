#include "trainers/pinn_pictures.h"

#include <cmath>
#include <limits>

#include "autograd/operations.h"
#include "trainers/plot.h"

namespace ralimp {
namespace {

// A column as the grid has it, NaN outside the geometry.
Tensor on_grid(const Tensor& column, const PinnReference& reference) {
    const Tensor outside =
        Tensor::full({1}, std::numeric_limits<double>::quiet_NaN(), DType::float64);
    return reshape(where(reference.inside, column, outside), Shape(reference.grid));
}

FieldAxis axis_of(const PinnProblem& problem, const PinnReference& reference, std::size_t axis) {
    return {problem.axes()[axis], reference.range.lower[axis], reference.range.upper[axis]};
}

// The plane of the first two axes at one position of all others (of the last one given, of those
// between the middle): [grid[0], grid[1]].
Tensor section(const Tensor& field, int64_t last) {
    Tensor plane = field;
    while (plane.dims() > 2)
        plane = select(plane, plane.dims() - 1,
                       plane.dims() == field.dims() ? last : plane.size(-1) / 2);
    return plane;
}

}  // namespace

std::vector<std::string> draw_solution(const std::filesystem::path& folder,
                                       const PinnProblem& problem, const PinnReference& reference,
                                       const Tensor& prediction, const Tensor& second, bool known) {
    std::vector<std::string> names;
    const std::size_t outputs = problem.outputs().size();
    const std::size_t axes = problem.axes().size();
    const Tensor residual = known ? Tensor() : on_grid(sqrt(mean(square(second), {1})), reference);
    for (std::size_t output = 0; output < outputs; ++output) {
        const std::string& u = problem.outputs()[output];
        names.push_back(outputs == 1 ? "solution.png" : "solution_" + u + ".png");
        const std::string path = (folder / names.back()).string();
        const auto column = static_cast<int64_t>(output);
        const Tensor network = on_grid(select(prediction, 1, column), reference);
        const Tensor other = known ? on_grid(select(second, 1, column), reference) : residual;
        const Tensor error = known ? abs(network - other) : Tensor();
        if (axes == 1) {
            const auto x = select(reference.points, 1, 0).to_vector<double>();
            const std::string& x_label = problem.axes()[0];
            if (known)
                plot_curves(path, {{u,
                                    x_label,
                                    u,
                                    {{"network", x, network.to_vector<double>()},
                                     {"exact", x, other.to_vector<double>(), CurveStyle::dashed}}},
                                   {"|error|", x_label, "", {{"", x, error.to_vector<double>()}}}});
            else
                plot_curves(path,
                            {{u, x_label, u, {{"network", x, network.to_vector<double>()}}},
                             {"|residual|", x_label, "", {{"", x, other.to_vector<double>()}}}});
            continue;
        }
        // Through time: t to the right and x upwards; in space x to the right and y upwards.
        const bool through_time = axes == 2 && problem.time();
        const auto plane = [&](const Tensor& field, int64_t last) {
            const Tensor flat = section(field, last);
            return through_time ? flat : transpose(flat, 0, 1);
        };
        const FieldAxis first = axis_of(problem, reference, 0);
        const FieldAxis next = axis_of(problem, reference, 1);
        std::vector<Field> fields;
        if (axes == 2) {
            fields.push_back({"network " + u, plane(network, 0), 0});
            if (known) fields.push_back({"exact " + u, plane(other, 0), 0});
            fields.push_back({known ? "|error|" : "|residual|", plane(known ? error : other, 0), 1,
                              Palette::inferno});
        } else {
            const std::string& axis = problem.axes().back();
            const int64_t size = reference.grid.back();
            for (int64_t last : {int64_t{0}, size / 2, size - 1}) {
                const double at =
                    reference.points
                        .to_vector<double>()[static_cast<std::size_t>(last) * axes + axes - 1];
                fields.push_back(
                    {fmt::format("{}, {} = {:.3g}", u, axis, at), plane(network, last), 0});
            }
            fields.push_back({fmt::format("{} at the end", known ? "|error|" : "|residual|"),
                              plane(known ? error : other, size - 1), 1, Palette::inferno});
        }
        plot_fields(path, fields, through_time ? next : first, through_time ? first : next);
    }
    return names;
}

}  // namespace ralimp
