// The table of operation tests: a row for every public operation, with a reference in double. The
// checks (operation_checks.h) run each row on any device.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "array.h"

namespace ralimp::testing {

enum class Kind {
    value,      // of the type under test; distinct values spread over [low, high]
    index,      // int64 in [low, high)
    condition,  // uint8, 0 or 1
};

struct Input {
    Shape shape;
    double low = -2, high = 2;
    Kind kind = Kind::value;
};

struct Case {
    std::vector<Input> inputs;
    std::function<Tensor(const Tensors&)> apply;
    std::function<Array(const Arrays&)> reference;
};

struct Row {
    std::string name;  // as declared; with parameter types when the name is declared twice
    std::vector<Case> cases;
    // |difference| <= tolerance · max(floor, |reference|)
    double tolerance_float32 = 2e-6;
    double tolerance_float64 = 1e-13;
    double floor = 0.25;
    bool differentiable = true;
    bool whole_numbers = false;                  // also runs on int32 and int64, exactly
    bool view = false;                           // needs no kernel
    std::optional<DType> result = std::nullopt;  // default: the type of the values
};
using Rows = std::vector<Row>;

Rows unary_rows();
Rows binary_rows();
Rows shape_rows();
Rows reduction_rows();
Rows linear_rows();
Rows indexing_rows();
Rows order_rows();
Rows random_rows();

// All of them.
const Rows& operation_table();

// Case lists for elementwise operations: no axis, size 1, empty, odd, several axes, enough for
// several threads.
std::vector<Shape> elementwise_shapes();
// The same for pairs that broadcast.
std::vector<std::pair<Shape, Shape>> broadcast_pairs();

}  // namespace ralimp::testing
