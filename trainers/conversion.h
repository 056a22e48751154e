// A network whose hidden layers are of another kind than those of a trained one, and do what these
// do: each starts from the dense layer in its place and from data, and may then learn from it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "layers/network.h"
#include "trainers/log.h"
#include "trainers/objective.h"
#include "trainers/task.h"

namespace ralimp {

struct DistillationOptions {
    int64_t steps = 1000;          // of Adam, for each layer and for the network
    double learning_rate = 1e-3;   // falls to a hundredth of it along a cosine
    int64_t derivative_order = 0;  // up to which derivatives are to agree as well, 0 to 2
};

class Conversion {
public:
    // The config is that of the converted task, whose network has the same layers as that of the
    // trained one, those from width to width of another kind. Both tasks must live longer. What is
    // learnt from are fresh inputs of the task (Task::fresh_inputs).
    Conversion(Task& trained, Task& converted, const NetworkConfig& config, uint64_t seed,
               Log& log);

    // Gives the converted model the values of the trained one; in the order of the layers each of
    // another kind starts from the dense layer in its place, on inputs of calibration as the layers
    // before it make them of fresh ones. Error(bad_config), beginning with network.hidden, for data
    // that it cannot start from.
    void start();
    // Trains each layer of another kind, the first one first, to have the outputs that the dense
    // layer in its place has in the trained network, given what the layers before it make. Layers
    // that come closer to theirs may all the same make a worse network: then none of them changes.
    void distil_layers(const DistillationOptions& options);
    // Trains the whole model to have the outputs of the trained one.
    void distil_network(const DistillationOptions& options);
    // Both leave what would not have a smaller error than before, on inputs that nothing learnt
    // from, as it was, and say so. Error(non_finite) for such a loss; Interrupted (signals.h).

    // Root mean square of the difference between the networks by that of the trained one.
    struct Errors {
        std::vector<double> layers;  // of the outputs of each layer of another kind
        double model = 0;
    };
    Errors errors(const Tensor& inputs) const;
    // Logs these on inputs of calibration and on others, and the figures of the converted model.
    // Returns the error of the model on the others.
    double report(const std::string& when);

private:
    // f(x): outputs of what is trained and what they should be, with the derivatives of the plan.
    struct Lesson {
        std::string name;
        Layer& trained;
        std::function<Jet(const Jet&)> outputs, wanted;
    };
    class LessonLoss;
    Lesson network_lesson();
    void distil(const Lesson& lesson, const DistillationOptions& options);
    void start_layer(std::size_t i);
    void copy_layer(std::size_t i);
    Tensor trained_tensor(const std::string& name) const;
    std::string layer_name(std::size_t i) const;

    Task &trained_, &converted_;
    NetworkConfig config_;
    uint64_t seed_;
    Log& log_;
    std::size_t first_;                           // number of the first layer of another kind
    std::vector<std::unique_ptr<Layer>> layers_;  // these
    std::shared_ptr<RationalFits> fits_ = std::make_shared<RationalFits>();  // that they share
    int64_t drawn_ = 0;            // batches of fresh inputs
    Tensor calibration_, others_;  // inputs
};

}  // namespace ralimp
