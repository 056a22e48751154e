// A formula of a problem, such as "u_t + u*u_x - nu*u_xx", computed for many points at once by
// differentiable operations: on tensors, or on jets where its own derivatives are needed.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/jet.h"
#include "data/expression.h"

namespace ralimp {

// What formulas may name: the axes of a point; outputs of the network and their derivatives, u_x,
// u_xt, u_xxx, in any order of the axes, up to the third; coefficients; and at a boundary the
// outward normal n_x, n_y with the derivative along it, u_n.
struct FormulaNames {
    std::vector<std::string> axes;
    std::vector<std::string> outputs;
    std::vector<std::string> coefficients;                  // trained: tensors
    std::vector<std::pair<std::string, double>> constants;  // fixed: numbers
    int normal_axes = 0;      // of the first axes the boundary has a normal; 0: it is not known
    bool derivatives = true;  // may be named
};

// What they stand for at some points.
struct FormulaPoints {
    const Jet* u = nullptr;  // outputs [rows, outputs]; null where a formula may name no output
    Tensor points;           // [rows, axes]
    Tensor normals;          // [rows, normal axes]
    Tensors coefficients;    // [] each
};

// The same as functions of the coordinates, with derivatives; formulas that name derivatives or a
// normal cannot be computed on them.
struct FormulaJets {
    Jet points;            // [rows, axes]
    Jet u;                 // [rows, outputs], of the same plan
    Tensors coefficients;  // [] each
};

class Formula {
public:
    // Throws Error with the place for whatever is no formula or names something unknown.
    Formula(std::string_view text, const FormulaNames& names);

    const std::string& text() const { return expression_.text; }
    // The derivatives a jet must carry, lists of axes in order, each once.
    const std::vector<std::vector<int>>& derivatives() const { return derivatives_; }
    bool names_outputs() const { return names_outputs_; }

    // [rows, 1] of the type of the points. Second derivatives with respect to parameters exist as
    // for every operation.
    Tensor evaluate(const FormulaPoints& at) const;
    // [rows, 1] with the derivatives that the jets carry, by the rules of differentiation.
    Jet evaluate(const FormulaJets& at) const;

private:
    struct Meaning {
        enum Kind { axis, output, normal_derivative, normal, coefficient, constant } kind;
        int index = 0;          // of the axis, output or coefficient
        std::vector<int> axes;  // of an output's derivative
        double value = 0;       // of a constant
    };
    Meaning meaning_of(const std::string& name, int column, const FormulaNames& names) const;
    Tensor value_of(const Meaning& meaning, const FormulaPoints& at) const;
    Jet value_of(const Meaning& meaning, const FormulaJets& at) const;
    // The steps on values of one kind, X. `constant_of` makes one of a number.
    template <class X, class At, class ConstantOf>
    X run(const At& at, const ConstantOf& constant_of) const;

    Expression expression_;
    std::vector<Meaning> meanings_;  // of expression_.names
    std::vector<std::vector<int>> derivatives_;
    bool names_outputs_ = false;
    int normal_axes_ = 0;
};

}  // namespace ralimp
