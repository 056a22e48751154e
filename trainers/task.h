// What a training task supplies to the one training loop: a model, a loss, an evaluation, pictures.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/layer.h"
#include "trainers/checkpoint.h"
#include "trainers/field_data.h"
#include "trainers/metrics.h"

namespace ralimp {

struct NetworkConfig;

// Rows of a part for a network of this width that carries so many derivative channels: about 400 kB
// for each layer.
int64_t rows_per_part(int64_t channels, int64_t width, DType dtype);

// f of some thousand rows of the inputs at a time, joined, without recording: memory stays bounded,
// and a signal is seen within a fraction of a second (throws as throw_if_stop_requested,
// signals.h).
Tensor in_pieces(const Tensor& inputs, const std::function<Tensor(const Tensor&)>& f);

// The loss of one batch and the terms it is the weighted sum of; scalars of shape [].
struct Loss {
    Tensor total;
    std::vector<std::pair<std::string, Tensor>> terms;  // unweighted
};

// What `ralimp render` may ask for besides a task's usual pictures.
struct RenderRequest {
    // Samples along each axis, such as {height, width}; empty: as trained.
    std::vector<int64_t> size;
    bool derivatives = false;
    bool empty() const { return size.empty() && !derivatives; }
};

// What a task is made for. One that shows a trained model does not need the data of the training:
// it can do all but choose data and compute losses of them.
enum class TaskUse { training, trained_model };

// Where a model is asked for its values: on a grid, a number of points along each axis; or at the
// points of a file, CSV or HDF5; neither: on the grid of evaluations.
struct PredictionPlace {
    std::vector<int64_t> grid;
    std::filesystem::path points;
};

// What `ralimp export` asks for: the surface that a task's model stands for.
struct ExportRequest {
    std::filesystem::path file;  // a PLY
    int64_t resolution = 256;    // cubes along each axis
    double most_gigabytes = 4;   // of memory
};

class Task {
public:
    virtual ~Task() = default;

    // "pinn", "siren": the kind in the config.
    virtual std::string kind() const = 0;
    virtual Layer& model() = 0;
    // A model for the same task with another network, at its start.
    virtual std::unique_ptr<Layer> make_model(const NetworkConfig& network) const = 0;
    // Inputs the model will see, [rows, inputs], for layers that start from data; at most
    // calibration_batch_rows.
    virtual Tensor calibration_batch() const = 0;

    // Inputs such as the training sees, about so many [rows, inputs]: a function of the seed and
    // this number, from 0 to 2^30 - 1, whatever data are chosen.
    virtual Tensor fresh_inputs(int64_t rows, int64_t number) const = 0;

    // Chooses the data of a step: a function of the seed and this number, and of the present model
    // for data that follow it. The same number again chooses the same. So do weights of the loss
    // that follow the model: between two calls the loss is a fixed function of the parameters.
    virtual void set_batch(int64_t sample_step) = 0;
    // What later steps depend on besides the model, the config and the number: data and weights
    // that followed the model. Loading it gives the task that was saved; throws Error(bad_input)
    // for what does not fit.
    virtual NamedTensors saved_state() const { return {}; }
    virtual void restore_state(const NamedTensors&) {}
    // The loss of the chosen batch at the model's present parameters is the sum over its parts,
    // term by term; the first part has every term, others may lack some. Parts are computed one by
    // one, several threads at a time, so that what one part keeps for its gradient fits a cache.
    // Their number depends on the config alone, never on threads.
    virtual int64_t parts() const { return 1; }
    // Rows that the model sees in one part, or more.
    virtual int64_t rows_of_part() const = 0;
    virtual Loss loss(int64_t part) const = 0;
    // What weighs the loss at present, where that changes between steps: columns of metrics.csv.
    // Their names stay the same.
    virtual NamedValues loss_weights() const { return {}; }

    // Writes files that show people the chosen data; called once, when a run starts. The folder is
    // that of the run. Throws Error(io).
    virtual void write_data(const std::filesystem::path&) const {}

    // Lines about the task at its start, for --check and the log.
    virtual std::vector<std::string> remarks() const { return {}; }

    // Makes what figures and pictures compare the model with, such as the values of a known
    // solution: work of seconds on a large grid, cut short like an evaluation. Else the first of
    // them makes it.
    virtual void prepare_evaluation() {}
    // Figures of the present model. Calls throw_if_stop_requested() (signals.h) between pieces of
    // work.
    virtual NamedValues evaluate() = 0;
    // Their names, known without evaluating; may need what prepare_evaluation() makes.
    virtual std::vector<std::string> metric_names() const = 0;
    // The first figure says which checkpoint is the best one.
    virtual bool larger_is_better() const = 0;
    // Figures of the present model on another grid, a number of points along each axis.
    virtual NamedValues evaluate_on(const std::vector<int64_t>& grid);
    // The present model's values as data. Error(bad_config), beginning with --grid, for a grid that
    // cannot be used; Error(bad_input) for such a file. Tasks without a domain refuse both.
    virtual FieldData predict(const PredictionPlace& place);

    // Writes pictures of the present model into the folder and returns their names.
    virtual std::vector<std::string> draw(const std::filesystem::path& folder) = 0;
    // Writes other pictures of it, on request. Error(bad_config) for what the task cannot draw.
    virtual std::vector<std::string> render(const std::filesystem::path& folder,
                                            const RenderRequest& request);
    // Pictures frame-0000.png, frame-0001.png, … of the model in the course of time, from 2 to
    // 10000. Error(bad_config) where there is no time.
    virtual void draw_frames(const std::filesystem::path& folder, int64_t count);
    // Writes the surface; `say` takes lines about cost and progress. Error(bad_config) when the
    // task has none or it would take more memory than allowed.
    virtual void export_mesh(const ExportRequest& request,
                             const std::function<void(const std::string&)>& say);
};

}  // namespace ralimp
