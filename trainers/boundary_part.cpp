#include "trainers/boundary_part.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"

namespace ralimp {

BoundaryPart::BoundaryPart(const std::string& text, const std::vector<std::string>& axes,
                           const std::vector<std::pair<std::string, double>>& constants,
                           const std::string& path)
    : text_(text), path_(path) {
    if (text.empty()) return;
    const std::size_t begin = text.find_first_of("=<>");
    if (begin == std::string::npos)
        fail_with(ExitCode::bad_config, "{}: '{}' compares nothing; write x = 1 or y < 0.5", path,
                  text);
    // Whether the end of an inequality belongs to it makes no difference to points.
    std::size_t end = begin + 1;
    if (end < text.size() && text[end] == '=') ++end;
    comparison_ = text[begin] == '<'   ? Comparison::less
                  : text[begin] == '>' ? Comparison::greater
                                       : Comparison::equal;
    try {
        sides_.push_back(parse_expression(text.substr(0, begin)));
        // Blanks in place of the left side: columns are those of the whole text.
        sides_.push_back(parse_expression(std::string(end, ' ') + text.substr(end)));
        for (const Expression& side : sides_) {
            names_.emplace_back();
            for (std::size_t i = 0; i < side.names.size(); ++i) {
                const std::string& name = side.names[i];
                const auto axis = std::find(axes.begin(), axes.end(), name);
                const auto constant = std::find_if(constants.begin(), constants.end(),
                                                   [&](const auto& c) { return c.first == name; });
                if (axis == axes.end() && constant == constants.end())
                    fail_in_expression(
                        text, side.columns[i],
                        fmt::format("{} is neither an axis nor a fixed coefficient", name));
                names_.back().emplace_back(
                    axis != axes.end() ? static_cast<int>(axis - axes.begin()) : -1,
                    axis != axes.end() ? 0 : constant->second);
            }
        }
    } catch (const Error& error) {
        fail_with(ExitCode::bad_config, "{}: {}", path, error.what());
    }
}

std::vector<int64_t> BoundaryPart::chosen(const Tensor& points, double tolerance,
                                          int64_t most) const {
    const int64_t axes = points.size(1);
    const double* const at = points.data<double>();
    std::vector<int64_t> rows;
    std::vector<double> values;
    for (int64_t row = 0; row < points.size(0) && static_cast<int64_t>(rows.size()) < most; ++row) {
        double side[2];
        for (int k = 0; k < 2; ++k) {
            values.clear();
            for (const auto& [axis, value] : names_[k])
                values.push_back(axis < 0 ? value : at[row * axes + axis]);
            side[k] = evaluate(sides_[k], values);
        }
        const double difference = side[0] - side[1];
        if (comparison_ == Comparison::less      ? difference <= 0
            : comparison_ == Comparison::greater ? difference >= 0
                                                 : std::abs(difference) <= tolerance)
            rows.push_back(row);
    }
    return rows;
}

BoundaryPoints BoundaryPart::draw(Sampler sampler, const Geometry& geometry, int64_t count,
                                  const RandomKey& key, std::optional<TimeInterval> time) const {
    if (sides_.empty()) return boundary_points(sampler, geometry, count, key, time);
    constexpr int64_t most_candidates = int64_t{1} << 20;
    for (int64_t candidates = 2 * count;; candidates *= 2) {
        candidates = std::min(candidates, most_candidates);
        const BoundaryPoints all = boundary_points(sampler, geometry, candidates, key, time);
        const std::vector<int64_t> rows = chosen(all.points, geometry.tolerance(), count);
        const auto found = static_cast<int64_t>(rows.size());
        if (found == count || (candidates == most_candidates && found > 0)) {
            const Tensor index = Tensor::from(rows, {found});
            return {index_select(all.points, 0, index), index_select(all.normals, 0, index)};
        }
        if (candidates == most_candidates)
            fail_with(ExitCode::bad_config, "{}: no point of the boundary has {}", path_, text_);
    }
}

}  // namespace ralimp
