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
    std::size_t end = begin + 1;
    const bool or_equal = end < text.size() && text[end] == '=';
    if (or_equal) ++end;
    comparison_ = text[begin] == '<' ? or_equal ? Comparison::less_or_equal : Comparison::less
                  : text[begin] == '>'
                      ? or_equal ? Comparison::greater_or_equal : Comparison::greater
                      : Comparison::equal;
    try {
        sides_.push_back(parse_expression_in(text, 0, begin));
        sides_.push_back(parse_expression_in(text, end, text.size()));
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
        const bool equal = std::abs(difference) <= tolerance;
        bool belongs = equal;
        switch (comparison_) {
            case Comparison::equal:
                break;
            case Comparison::less:
                belongs = difference < 0 && !equal;
                break;
            case Comparison::less_or_equal:
                belongs = difference < 0 || equal;
                break;
            case Comparison::greater:
                belongs = difference > 0 && !equal;
                break;
            case Comparison::greater_or_equal:
                belongs = difference > 0 || equal;
                break;
        }
        if (belongs) rows.push_back(row);
    }
    return rows;
}

BoundaryPoints BoundaryPart::draw_from(Sampler sampler, const Geometry& geometry,
                                       int64_t candidates, int64_t most, const RandomKey& key,
                                       std::optional<TimeInterval> time) const {
    const BoundaryPoints all = boundary_points(sampler, geometry, candidates, key, time);
    const std::vector<int64_t> rows = chosen(all.points, geometry.tolerance(), most);
    const Tensor index = Tensor::from(rows, {static_cast<int64_t>(rows.size())});
    return {index_select(all.points, 0, index), index_select(all.normals, 0, index)};
}

BoundaryPoints BoundaryPart::draw(Sampler sampler, const Geometry& geometry, int64_t count,
                                  const RandomKey& key, std::optional<TimeInterval> time) const {
    if (sides_.empty()) return boundary_points(sampler, geometry, count, key, time);
    const int64_t most_candidates =
        std::clamp<int64_t>(64 * count, int64_t{1} << 18, most_latin_hypercube_points);
    // Of random points the first ones that belong to it; a grid has an order, so that of a grid all
    // are taken, and it may not be finer than that.
    const int64_t most = sampler == Sampler::grid ? most_candidates : count;
    int64_t candidates = count;
    BoundaryPoints found = draw_from(sampler, geometry, candidates, most, key, time);
    const auto rows = [](const BoundaryPoints& points) { return points.points.size(0); };
    while (rows(found) < count && candidates < most_candidates) {
        const int64_t twice = std::min(candidates * 2, most_candidates);
        BoundaryPoints more = draw_from(sampler, geometry, twice, most, key, time);
        if (rows(more) > count) {  // grids only
            int64_t fine = twice;
            while (fine - candidates > std::max<int64_t>(candidates / 16, 1)) {
                const int64_t middle = (candidates + fine) / 2;
                more = draw_from(sampler, geometry, middle, most, key, time);
                if (rows(more) > count) {
                    fine = middle;
                } else {
                    candidates = middle;
                    found = more;
                }
            }
            break;
        }
        candidates = twice;
        found = more;
    }
    const bool enough = sampler == Sampler::grid ? rows(found) > 0 : rows(found) == count;
    if (!enough)
        fail_with(ExitCode::bad_config,
                  "{}: {} of the boundary's points with {} were found; {} are asked for", path_,
                  rows(found) == 0 ? "none" : fmt::format("only {}", rows(found)), text_, count);
    return found;
}

}  // namespace ralimp
