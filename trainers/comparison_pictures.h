// The pictures of a comparison: figures against sizes, the course of the training, and what the
// networks look like.
#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "trainers/comparison_networks.h"
#include "trainers/comparison_outcome.h"
#include "trainers/document.h"

namespace ralimp {

// Of one case: the figure against numbers, of all runs, and in the course of the median run.
// Errors as plot_curves().
DocumentPictures draw_comparison_curves(const ComparisonOutcome& outcome, std::size_t case_index,
                                        const std::filesystem::path& folder);

// Of one case, of the median runs, whose networks stand by entry where there are any: their errors
// with one scale where the solution of a PINN is known, else the pictures that the runs have drawn.
std::vector<DocumentPart> comparison_pictures(
    const ComparisonOutcome& outcome, std::size_t case_index,
    const std::vector<std::optional<ComparedNetwork>>& networks,
    const std::filesystem::path& folder);

}  // namespace ralimp
