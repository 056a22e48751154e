#include "tests/trainers/training_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "autograd/operations.h"
#include "trainers/config.h"

namespace ralimp {
namespace {

std::string bytes_of_tensor(const Tensor& tensor) {
    return {static_cast<const char*>(tensor.data()),
            static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.dtype())};
}

std::map<std::string, std::string> texts_of(const Checkpoint& checkpoint) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, tensor] : checkpoint.tensors) texts[name] = bytes_of_tensor(tensor);
    for (const auto& [name, value] : checkpoint.values)
        if (name != "seconds")
            texts[name] = std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
    return texts;
}

}  // namespace

void WatchedTask::set_batch(int64_t sample_step) {
    ++batches_;
    if (before_step) before_step(batches_);
    if (on_batch) on_batch(sample_step);
    inner_->set_batch(sample_step);
}

Loss WatchedTask::loss(int64_t part) const {
    Loss loss = inner_->loss(part);
    if (after_loss && is_recording()) after_loss(++losses_, loss);
    return loss;
}

NamedValues WatchedTask::evaluate() {
    ++evaluations_;
    if (before_evaluation) before_evaluation(evaluations_);
    return inner_->evaluate();
}

std::vector<std::string> WatchedTask::draw(const std::filesystem::path& folder) {
    if (before_drawing) before_drawing();
    return inner_->draw(folder);
}

std::vector<double> Trained::column(const std::string& name) const {
    const auto found = std::find(columns.begin(), columns.end(), name);
    std::vector<double> cells;
    if (found == columns.end()) ADD_FAILURE() << "no column " << name;
    for (const std::vector<double>& row : rows) cells.push_back(row[found - columns.begin()]);
    return cells;
}

Trained train_in(const std::filesystem::path& path, const std::string& config_text,
                 const std::function<void(WatchedTask&)>& watch,
                 const std::filesystem::path& start) {
    const auto config = read_config_text<RunConfig>(config_text);
    const std::string text = write_config(config);
    RunFolder folder = RunFolder::holds_run(path) ? RunFolder::open(path) : RunFolder::create(path);
    folder.lock();
    folder.write_config(text);
    WatchedTask task(config);
    task.model().initialize_from_data(task.calibration_batch());
    if (watch) watch(task);
    Log log({-1, false, 80});
    log.open_file(folder.log().string());
    Training training(task, settings_of(config), log, text);
    const CheckpointFolder checkpoints(folder.checkpoints());
    const auto no_warning = [](const std::string& line) { ADD_FAILURE() << line; };
    if (!start.empty())
        training.restore(read_checkpoint(start.string()));
    else if (const auto found = checkpoints.newest_valid(no_warning))
        training.restore(found->checkpoint);

    Trained trained;
    try {
        trained.result = training.run(folder);
    } catch (const Error& error) {
        trained.error = error.what();
        trained.code = error.code();
    }
    trained.parameters = to(training.parameters().values(), DType::float64).to_vector<double>();
    if (const auto found = checkpoints.newest_valid(no_warning))
        trained.checkpoint = texts_of(found->checkpoint);
    const MetricsTable table = read_metrics(folder.metrics().string());
    trained.columns.push_back("step");
    for (const std::string& column : table.columns)
        if (column != "seconds") trained.columns.push_back(column);
    for (std::size_t i = 0; i < table.steps.size(); ++i) {
        trained.rows.push_back({static_cast<double>(table.steps[i])});
        for (std::size_t k = 0; k < table.columns.size(); ++k)
            if (table.columns[k] != "seconds")
                trained.rows.back().push_back(table.rows[i][k].value_or(-1));
    }
    return trained;
}

void expect_same(const Trained& whole, const Trained& pieces, const std::string& what) {
    EXPECT_EQ(whole.error, "") << what;
    EXPECT_EQ(pieces.error, "") << what;
    EXPECT_EQ(whole.result.stopped_by, pieces.result.stopped_by) << what;
    EXPECT_EQ(whole.result.steps, pieces.result.steps) << what;
    EXPECT_EQ(whole.result.metrics, pieces.result.metrics) << what;
    EXPECT_EQ(whole.parameters, pieces.parameters) << what;
    EXPECT_EQ(whole.columns, pieces.columns) << what;
    EXPECT_EQ(whole.rows, pieces.rows) << what;
    EXPECT_EQ(whole.checkpoint.size(), pieces.checkpoint.size()) << what;
    for (const auto& [name, text] : whole.checkpoint) {
        const auto other = pieces.checkpoint.find(name);
        ASSERT_NE(other, pieces.checkpoint.end()) << what << ": " << name;
        EXPECT_TRUE(text == other->second) << what << ": " << name << " differs";
    }
}

NoPrograms::NoPrograms() {
    if (const char* path = std::getenv("PATH")) path_ = path;
    setenv("PATH", "/nowhere", 1);
}

NoPrograms::~NoPrograms() { setenv("PATH", path_.c_str(), 1); }

std::string small_pinn(const std::string& phases, const std::string& precision,
                       const std::string& more) {
    return fmt::format(
        "kind: pinn\nprecision: {}\nnetwork: {{hidden_layers: 2, width: 6}}\n"
        "points: {{residual: 40, initial: 8, boundary: 8}}\nevaluation: {{grid: [8, 5]}}\n"
        "training: {{phases: [{}], log_every: 2, evaluate_every: 5, checkpoint_every: 4}}\n{}",
        precision, phases, more);
}

}  // namespace ralimp
