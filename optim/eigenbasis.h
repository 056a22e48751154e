// The slowly changing eigenbasis of one of Shampoo's preconditioners: of one side of a matrix.
#pragma once
#include "core/tensor.h"

namespace ralimp {

// A view [columns, rows] of a matrix [rows, columns].
Tensor transposed(const Tensor& matrix);

class Eigenbasis {
public:
    Eigenbasis(int64_t side, DType dtype, Device device);

    // The running mean of G Gᵀ, float64 [side, side]: squares of float32 gradients stay in range.
    const Tensor& preconditioner() const { return preconditioner_; }
    // Its approximate eigenvectors as orthonormal columns, [side, side] of the parameters' type;
    // falling eigenvalues. The identity until start().
    const Tensor& vectors() const { return vectors_; }

    // P = beta P + (1 - beta) G Gᵀ for G, float64 [side, any], of any strides.
    void learn(const Tensor& gradient, double beta);
    // The eigenvectors of the preconditioner.
    void start();
    // One step of the power iteration with a QR decomposition: Vyas et al. (2024), Algorithm 4.
    // Returns an order, int64 [side]: new vector i comes from the old one order[i], so that
    // eigenvalues fall again.
    Tensor turn();

private:
    Tensor preconditioner_;
    Tensor vectors_;
};

}  // namespace ralimp
