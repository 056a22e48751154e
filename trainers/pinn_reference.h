// The solution a PINN is compared with: points and values, from the problem's formula on a grid or
// from a file.
#pragma once
#include <filesystem>
#include <vector>

#include "trainers/pinn_problem.h"

namespace ralimp {

struct PinnReference {
    std::vector<int64_t> grid;  // points along each axis, the first axis outermost
    Box range;                  // of the cells around the grid's points, for pictures
    Tensor points;              // [product of grid, axes] float64
    Tensor inside;              // [product of grid] uint8: 1 where the geometry is
    Tensor values;              // [product of grid, outputs] float64, undefined if not known
};

// Positions of equal steps over the box around the domain: both ends included, of the time all but
// the last one, as the published solution of Burgers' equation has them.
PinnReference reference_on_grid(const PinnProblem& problem, const std::vector<int64_t>& grid);

// Datasets named as the axes, [points] each, and as the outputs, [t, x, …] or [x, …, t]. Throws
// Error(bad_input) for whatever does not fit.
PinnReference reference_from_file(const PinnProblem& problem, const std::filesystem::path& file);

}  // namespace ralimp
