// The solution a PINN is compared with: points and values, from the problem's formula on a grid or
// from a file.
#pragma once
#include <filesystem>
#include <vector>

#include "trainers/pinn_problem.h"

namespace ralimp {

struct PinnReference {
    std::vector<int64_t> grid;                   // points along each axis, the first axis outermost
    std::vector<std::vector<double>> positions;  // the same points: where they are on each axis
    Box range;      // of the cells around the grid's points, for pictures
    Tensor points;  // [product of grid, axes] float64
    Tensor inside;  // [product of grid] uint8: 1 where the geometry is
    Tensor values;  // [product of grid, outputs] float64, undefined if not known
};

enum class EndOfTime { excluded, included };

// Positions of equal steps over the box around the domain, both ends included; of the time without
// the last one if so wished, as the published solution of Burgers' equation has them.
PinnReference reference_on_grid(const PinnProblem& problem, const std::vector<int64_t>& grid,
                                EndOfTime end = EndOfTime::excluded);

// Error(bad_config), beginning with the key ("evaluation.grid"), unless the grid has a number of
// points, 2 at least, for each axis, and no more points than fit into memory.
void check_grid(const PinnProblem& problem, const std::vector<int64_t>& grid,
                const std::string& key);

// Whether the geometry holds each of points [rows, axes]: [rows] uint8, 0 or 1.
Tensor inside_of(const PinnProblem& problem, const Tensor& points);

// Rows of x whose entry of the mask is not 0.
Tensor rows_where(const Tensor& x, const Tensor& mask);

// Datasets named as the axes, [points] each, and as the outputs, [t, x, …] or [x, …, t]. Throws
// Error(bad_input) for whatever does not fit; outside the geometry values do not matter.
PinnReference reference_from_file(const PinnProblem& problem, const std::filesystem::path& file);

}  // namespace ralimp
