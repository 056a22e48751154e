#include "layers/orthonormal.h"

#include <vector>

#include "core/interruption.h"

namespace ralimp {

using Eigen::Index;
using Eigen::MatrixXd;

OrthonormalColumns orthonormal_columns(MatrixXd matrix) {
    constexpr Index panel = 48;
    const Index rows = matrix.rows(), columns = matrix.cols();
    OrthonormalColumns result{MatrixXd::Identity(rows, columns), Eigen::VectorXd::Ones(columns)};
    std::vector<Eigen::HouseholderQR<MatrixXd>> panels;
    for (Index begin = 0; begin < columns; begin += panel) {
        throw_if_interrupted();
        const Index width = std::min(panel, columns - begin);
        panels.emplace_back(matrix.block(begin, begin, rows - begin, width));
        const auto& qr = panels.back();
        for (Index i = 0; i < width; ++i)
            if (qr.matrixQR()(i, i) < 0) result.signs[begin + i] = -1;
        if (const Index after = columns - begin - width; after > 0)
            matrix.bottomRightCorner(rows - begin, after)
                .applyOnTheLeft(qr.householderQ().adjoint());
    }
    for (auto i = static_cast<Index>(panels.size()); i-- > 0;) {
        throw_if_interrupted();
        const Index begin = i * panel;
        result.q.bottomRightCorner(rows - begin, columns - begin)
            .applyOnTheLeft(panels[static_cast<std::size_t>(i)].householderQ());
    }
    return result;
}

}  // namespace ralimp
