// Pictures of a PINN: the network, the known solution, their difference and the residuals, as lines
// over one axis and maps over two.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainers/pinn_reference.h"

namespace ralimp {

// What there is to draw. Functions of points [rows, axes], all float64.
struct PinnPictureSource {
    const PinnProblem& problem;
    // The grid. Its values are those of the problem's formula or, without one, of a file.
    const PinnReference& reference;
    std::function<Tensor(const Tensor&)> outputs;    // [rows, outputs]
    std::function<Tensor(const Tensor&)> residuals;  // [rows, equations]
    std::vector<double> times;  // of pictures in space; nothing where there is no time
};

// Draws into the folder and returns the names, of each output u when there are several:
//  solution.png, solution_u.png  network, exact solution and |error| where it is known, |residual|
//  residuals.png                 of each equation, when there are several
//  slices.png, slices_u.png      with one axis in space: lines at the times
// With two axes and the time a row of maps for each of the times. Of three axes in space the first
// two, through the middle of the third, as the titles say. With a file of values the times and the
// middle are the nearest that it has. Axes of space have one scale.
std::vector<std::string> draw_solution(const std::filesystem::path& folder,
                                       const PinnPictureSource& source);

// The solution at equally distant times from the start to the end, frame-0000.png and so on, all
// with the same scales. Count is from 2 to 10000. Error(bad_config) when there is no time.
void draw_frames(const std::filesystem::path& folder, const PinnPictureSource& source,
                 int64_t count);

}  // namespace ralimp
