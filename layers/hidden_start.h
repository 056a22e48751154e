// What every kind of hidden layer is asked for: a layer that computes, or stands in for, the dense
// layer f(scale (W x + b)).
#pragma once
#include <functional>
#include <memory>

#include "layers/linear.h"

namespace ralimp {

class RationalFits;

struct HiddenStart {
    Activation activation = Activation::tanh;
    double scale = 1;     // omega of a sine network
    double envelope = 1;  // s of wire
    LinearStart start;    // of W and b; its key is the source of every random number of the layer
    DType dtype = DType::float32;
    // Where layers of a network keep the fits they share; null: a layer makes its own.
    std::shared_ptr<RationalFits> fits;
    // A trained dense layer that the new one is to take the place of, W [outputs, inputs] and b
    // [outputs]; undefined: its usual start.
    Tensor weight = {}, bias = {};
    // What that layer sees where the new one sees its calibration batch, [rows, inputs]: not the
    // same in a network whose earlier layers are replaced too. Undefined: the batch itself.
    Tensor seen = {};
};

// W and b of the dense layer; tensors of their own.
Tensor dense_weight(int64_t outputs, int64_t inputs, const HiddenStart& start);
Tensor dense_bias(int64_t outputs, int64_t inputs, const HiddenStart& start);

// f of pieces of the rows of x [rows, inputs], joined again. f makes so many numbers of each row,
// by a product with x; a piece is some millions of them and a fraction of a second's work, so that
// memory stays bounded and an interruption is seen.
Tensor map_rows(const Tensor& x, int64_t numbers, const std::function<Tensor(const Tensor&)>& f);

// f(scale (W x + b)) of the dense layer on the rows of the calibration batch x [rows, inputs], or
// on the first rows of start.seen in their place: [rows, outputs].
Tensor dense_outputs(const Tensor& x, int64_t outputs, const HiddenStart& start);

// The rows of a calibration batch that a start looks at. Throws Error unless the batch is
// [rows, inputs] with at least two rows.
Tensor calibration_part(const char* layer, const Tensor& x, int64_t inputs);

}  // namespace ralimp
