// ralimp convert: of a run whose hidden layers are dense a new run, whose hidden layers are of
// another kind.
#include <cmath>
#include <cstring>

#include "layers/folding.h"
#include "trainers/config.h"
#include "trainers/config_differences.h"
#include "trainers/conversion.h"
#include "trainers/loaded_run.h"
#include "trainers/memory_check.h"
#include "trainers/report.h"
#include "trainers/training.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

const char* kind_of(const HiddenConfig& config) {
    return std::visit([](const auto& hidden) { return hidden.kind; }, config);
}

void check_trained(const LoadedRun& run) {
    const NetworkConfig& network = network_of(run.config);
    const std::string name = run.folder.path().string();
    if (std::holds_alternative<LayerConfig>(run.config))
        fail_with(
            ExitCode::bad_input,
            "convert: {}: a layer run has no network to convert; train the other kind itself, "
            "with network.hidden and the same seed",
            name);
    if (!std::holds_alternative<DenseHiddenConfig>(network.hidden))
        fail_with(ExitCode::bad_input,
                  "convert: {}: its hidden layers are {}; only those of a run with network.hidden: "
                  "{{kind: dense}} can be converted",
                  name, kind_of(network.hidden));
    if (network.hidden_layers < 2)
        fail_with(ExitCode::bad_input,
                  "convert: {}: its network has no layer from width to width to be converted",
                  name);
}

// The changes with the kind that --kind names, which one of them may say as well.
std::vector<std::string> changes_with_kind(const ConvertOptions& options) {
    std::vector<std::string> changes = options.changes;
    if (options.kind.empty()) return changes;
    const ConfigNode tree = parse_config_overrides(changes);
    const ConfigNode* node = &tree;
    for (const char* key : {"network", "hidden", "kind"}) {
        const ConfigNode::Entry* entry = node->find(key);
        if (!entry) {
            changes.push_back("network.hidden.kind=" + options.kind);
            return changes;
        }
        node = &entry->value;
    }
    if (node->text != options.kind)
        fail_with(ExitCode::bad_config,
                  "--kind {} contradicts the change to network.hidden.kind = {}; leave one out",
                  shown(options.kind), shown(node->text));
    return changes;
}

// That of the run with the kind and the changes; what else the network was trained for stays.
RunConfig converted_config(const RunConfig& trained, const ConvertOptions& options) {
    const std::string before = write_config(trained);
    auto config =
        read_config_text<RunConfig>(before, "the config of the run", changes_with_kind(options));
    for (const ConfigDifference& difference : config_differences(before, write_config(config))) {
        const std::string& path = difference.path;
        if (concerns_loss(path) && path != "network.hidden" && !path.starts_with("network.hidden."))
            fail_with(ExitCode::bad_config,
                      "convert: {} cannot be changed; network.hidden, training, evaluation and "
                      "threads can",
                      path);
    }
    const HiddenConfig& hidden = network_of(config).hidden;
    if (std::holds_alternative<NarrowConfig>(hidden))
        fail_with(
            ExitCode::bad_config,
            "network.hidden.kind: narrow layers have another width, so that no layer takes the "
            "place of a dense one; train such a network from its start");
    if (std::holds_alternative<DenseHiddenConfig>(hidden))
        fail_with(ExitCode::bad_config,
                  "network.hidden.kind: dense is what the run has; give another kind, such as "
                  "--kind ralimp");
    return config;
}

// The values of a PINN say little of its loss.
int64_t usual_order(const RunConfig& config) {
    const auto* siren = std::get_if<SirenConfig>(&config);
    return siren && siren->loss.fit == FitKind::value ? 0 : 1;
}

// The folder of the new run. What is in it goes again unless all of it was written.
class NewFolder {
public:
    explicit NewFolder(const fs::path& path)
        : existed_(fs::exists(path)), folder_(RunFolder::create(path)) {}
    ~NewFolder() {
        if (kept_) return;
        std::error_code ignored;
        std::vector<fs::path> entries;
        for (const auto& entry : fs::directory_iterator(folder_.path(), ignored))
            entries.push_back(entry.path());
        for (const fs::path& entry : entries) fs::remove_all(entry, ignored);
        if (!existed_) fs::remove(folder_.path(), ignored);
    }
    NewFolder(const NewFolder&) = delete;
    const RunFolder& get() const { return folder_; }
    void keep() { kept_ = true; }

private:
    bool existed_, kept_ = false;
    RunFolder folder_;
};

void report_trained(const LoadedRun& run, Log& log) {
    log.line("{}, step {}: {}", run.folder.path().string(), run.step,
             run.task->model().description());
    for (const auto& [name, value] : run.task->evaluate())
        log.line("  {} {}", name, format_number(value));
}

void report_counts(const Layer& before, const Layer& after, Log& log) {
    const auto share = [](int64_t part, int64_t whole) {
        return 100 * static_cast<double>(part) / static_cast<double>(whole);
    };
    const int64_t trained = after.count().trained, trained_before = before.count().trained;
    const int64_t deployed = deployed_numbers(after), deployed_before = deployed_numbers(before);
    log.line("parameters: {} -> {} trained ({:.1f} %), {} -> {} deployed, folded ({:.1f} %)",
             trained_before, trained, share(trained, trained_before), deployed_before, deployed,
             share(deployed, deployed_before));
}

}  // namespace

// Nothing is written before the run, the model and its memory are known to be good.
ExitCode convert(const ConvertOptions& options) {
    const bool layers = options.distil == "layers" || options.distil == "both";
    const bool network = options.distil == "network" || options.distil == "both";
    if (!(options.learning_rate > 0 && std::isfinite(options.learning_rate)))
        fail_with(ExitCode::bad_config, "--learning-rate: {} is not positive and finite",
                  options.learning_rate);
    if (!(options.max_error > 0))
        fail_with(ExitCode::bad_config, "--max-error: {} is not positive", options.max_error);
    const LoadedRun trained = load_run(options.run, TaskUse::training);
    check_trained(trained);
    const RunConfig config = converted_config(trained.config, options);
    const RunSettings& settings = settings_of(config);
    check_memory(config);
    const std::unique_ptr<Task> task = make_task(config);
    check_memory(config, *task, calibration_batch_rows);
    NewFolder folder(options.run.output);

    Log log;
    Conversion conversion(*trained.task, *task, network_of(config),
                          static_cast<uint64_t>(settings.seed), log);
    report_trained(trained, log);
    const DistillationOptions distillation{options.steps, options.learning_rate,
                                           options.derivative_order.value_or(usual_order(config))};
    conversion.start();
    double error = conversion.report("after the start");
    if (layers) {
        conversion.distil_layers(distillation);
        error = conversion.report("after the distillation of the layers");
    }
    if (network) {
        conversion.distil_network(distillation);
        error = conversion.report("after the distillation of the network");
    }
    if (!(error <= options.max_error))
        fail_with(ExitCode::failure,
                  "convert: the new network has the relative error {} on inputs it has not seen, "
                  "more than --max-error {}, so that nothing is written; psi: free, a larger layer "
                  "or more --steps may help, a larger --max-error writes it as it is",
                  format_number(error), format_number(options.max_error));
    report_counts(trained.task->model(), task->model(), log);

    const std::string text = write_config(config);
    Training training(*task, settings, log, text);
    begin_run(folder.get(), text, *task, log, true);
    const TrainingResult result = training.write_start(folder.get(), "converted");
    write_training_result(folder.get(), config, *task, result);
    folder.keep();
    log.line("everything is in {}; to train it further: ralimp train {} --output {}",
             fs::absolute(folder.get().path()).string(), folder.get().config().string(),
             folder.get().path().string());
    if (log.output_error() != 0)
        fail_with(ExitCode::io, "standard output: cannot be written: {}; everything is in {}",
                  std::strerror(log.output_error()), folder.get().path().string());
    return ExitCode::success;
}

}  // namespace ralimp
