// What every layer offers: a forward pass on jets (and so on plain tensors), its named parameters,
// its counts.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "layers/folded_step.h"

namespace ralimp {

// A calibration batch has no more rows, as no data-dependent start looks at more.
inline constexpr int64_t calibration_batch_rows = 4096;

struct ParameterInfo {
    bool trained = true;  // false: a constant that is saved with the model but never moved
    bool decay = true;    // whether weight decay applies: matrices yes, biases and scales no
    // Multiplies the learning rate of first-order optimizers; line searches have none to multiply.
    double learning_rate_scale = 1;
};

// Called with the dotted name, the tensor itself (it may be replaced) and its kind.
using ParameterVisitor = std::function<void(const std::string&, Tensor&, const ParameterInfo&)>;

// "a" and "b" as "a.b"; an empty prefix adds no dot.
inline std::string join(const std::string& prefix, const std::string& name) {
    return prefix.empty() ? name : prefix + "." + name;
}

// Called with the dotted name of a layer that clamps exponents and its counts since they were last
// set to 0, int64 [2]: how many it clamped in forward passes, and how many there were.
using ClampVisitor = std::function<void(const std::string&, const Tensor&)>;

// Numbers to store for one layer or network.
struct ParameterCount {
    int64_t trained = 0;      // moved by the optimizer
    int64_t deployed = 0;     // needed for inference after folding, random projections included
    int64_t regenerated = 0;  // the same with fixed random projections stored as a seed
    ParameterCount& operator+=(const ParameterCount& other) {
        trained += other.trained;
        deployed += other.deployed;
        regenerated += other.regenerated;
        return *this;
    }
};

class Layer {
public:
    virtual ~Layer() = default;

    // x [rows, inputs] -> [rows, outputs], with whatever derivatives the jet carries.
    virtual Jet forward(const Jet& x) const = 0;
    // The plain form: x [..., inputs] -> [..., outputs].
    Tensor forward(const Tensor& x) const;

    virtual int64_t inputs() const = 0;
    virtual int64_t outputs() const = 0;

    // Visits parameters and constants in a fixed order; names start with the prefix.
    virtual void visit(const std::string& prefix, const ParameterVisitor& visitor) = 0;

    // Data-dependent start: called once before training with a calibration batch [rows, inputs] of
    // what the layer will see. Returns what the next layer will see. Ends by what
    // throw_if_interrupted() throws; Error(bad_config) for data or options it cannot start from.
    virtual Tensor initialize_from_data(const Tensor& x);

    // Visits the layers that clamp exponents to keep them finite.
    virtual void visit_clamps(const std::string&, const ClampVisitor&) const {}

    // What it does as steps of a chain; empty where it has no such form.
    virtual std::vector<ChainLayer> as_chain() const { return {}; }
    // The same for a folded network (layers/folding.h), which has more kinds of steps.
    virtual std::vector<FoldedStep> folded_steps() const;
    // Whether it has the form of a chain and none of its products has a side longer than `width`:
    // then it is computed as one with its neighbours.
    virtual bool fits_chain(int64_t) const { return false; }

    // The layers it is made of, for whoever lists them; of a single layer itself.
    virtual std::vector<const Layer*> parts() const { return {this}; }

    virtual ParameterCount count() const = 0;
    // One line for --check and the log, such as "dense 20 -> 20, tanh".
    virtual std::string description() const = 0;
};

}  // namespace ralimp
