// Pictures of a PINN's solution: curves over one axis, fields over two, sections of more.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "trainers/pinn_reference.h"

namespace ralimp {

// Draws "solution.png", with several outputs "solution_u.png" for each, into the folder and returns
// the names: the network, beside it the known solution and the error where `known`, else the
// residuals of all equations as one. prediction [points of the grid, outputs]; second the solution
// (the same shape) or the residuals [points, equations]; all float64. With three axes or more
// three sections are drawn, at the start, the middle and the end of the last axis.
std::vector<std::string> draw_solution(const std::filesystem::path& folder,
                                       const PinnProblem& problem, const PinnReference& reference,
                                       const Tensor& prediction, const Tensor& second, bool known);

}  // namespace ralimp
