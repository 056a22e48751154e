#include "trainers/conversion.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations.h"
#include "layers/parameters.h"
#include "layers/ralimp.h"
#include "trainers/signals.h"
#include "trainers/training.h"

namespace ralimp {
namespace {

constexpr int64_t batch_rows = 2048;

// x through the layers [begin, end), without recording.
Jet through(const std::vector<const Layer*>& layers, std::size_t begin, std::size_t end, Jet x) {
    const NoGrad pause;
    for (std::size_t i = begin; i < end; ++i) x = layers[i]->forward(x);
    return x;
}

// All derivatives up to the order along so many axes.
std::shared_ptr<const JetPlan> plan_of(int64_t order, int64_t axes) {
    std::vector<std::vector<int>> derivatives;
    for (int i = 0; i < axes && order > 0; ++i) {
        derivatives.push_back({i});
        for (int j = i; j < axes && order > 1; ++j) derivatives.push_back({i, j});
    }
    return JetPlan::make(derivatives);
}

// Into the memory that is there: optimizers may hold on to it.
void copy_tensors(const NamedTensors& sources, Layer& model) {
    const NamedTensors tensors = named_tensors(model);
    for (const auto& [name, source] : sources) {
        const auto found =
            std::find_if(tensors.begin(), tensors.end(),
                         [&, &wanted = name](const auto& each) { return each.first == wanted; });
        check(found != tensors.end(), "conversion: the converted network has no {}", name);
        found->second.copy_from(source);
    }
}

double mean_square(const Tensor& x) { return mean(square(to(x, DType::float64))).item(); }

double relative_error(const Tensor& y, const Tensor& wanted) {
    const double size = mean_square(wanted);
    return std::sqrt(mean_square(y - wanted) / (size > 0 ? size : 1));
}

bool is_better(double after, double before) { return std::isfinite(after) && !(after >= before); }

std::string order_text(const DistillationOptions& options) {
    if (options.derivative_order == 0) return "";
    return fmt::format(" with derivatives to order {}", options.derivative_order);
}

// 1 / √(C · mean square) of each of the C channels, [C, 1, 1]: the mean square of differences times
// it is the mean over the channels of relative square errors. A channel of zeros counts as it is.
Tensor channel_factors(const Jet& wanted) {
    std::vector<double> factors;
    const int64_t channels = wanted.channels().size(0);
    for (int64_t c = 0; c < channels; ++c) {
        const double size = mean_square(select(wanted.channels(), 0, c));
        factors.push_back(1 / std::sqrt(static_cast<double>(channels) * (size > 0 ? size : 1)));
    }
    return to(Tensor::from(factors, {channels, 1, 1}), wanted.channels().dtype());
}

}  // namespace

Conversion::Conversion(Task& trained, Task& converted, const NetworkConfig& config, uint64_t seed,
                       Log& log)
    : trained_(trained),
      converted_(converted),
      config_(config),
      seed_(seed),
      log_(log),
      // The last layer is linear, the one before the first of these dense.
      first_(converted.model().parts().size() - static_cast<std::size_t>(config.hidden_layers)),
      calibration_(converted.fresh_inputs(calibration_batch_rows, drawn_++)),
      others_(converted.fresh_inputs(calibration_batch_rows, drawn_++)) {
    check(trained.model().parts().size() == converted.model().parts().size(),
          "conversion: the trained network has {} layers, the other one {}",
          trained.model().parts().size(), converted.model().parts().size());
}

std::string Conversion::layer_name(std::size_t i) const {
    return fmt::format("layer_{}", first_ + i);
}

Tensor Conversion::trained_tensor(const std::string& name) const {
    for (const auto& [each, tensor] : named_tensors(trained_.model()))
        if (each == name) return tensor;
    fail("conversion: the trained network has no {}", name);
}

void Conversion::start() {
    layers_.resize(static_cast<std::size_t>(config_.hidden_layers) - 1);
    NamedTensors kept = named_tensors(trained_.model());
    for (std::size_t i = 0; i < layers_.size(); ++i)
        std::erase_if(
            kept, [&](const auto& each) { return each.first.starts_with(layer_name(i) + "."); });
    copy_tensors(kept, converted_.model());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        throw_if_stop_requested();
        start_layer(i);
        const auto* ralimp = dynamic_cast<const Ralimp*>(layers_[i].get());
        if (ralimp && ralimp->exponent() > 1)
            log_.warning(
                "{}: the variance exponent of its features is {}; above 1 estimates scatter widely "
                "about the function: psi: free fits them to it",
                layer_name(i), format_number(ralimp->exponent()));
    }
}

void Conversion::start_layer(std::size_t i) {
    const std::size_t at = first_ + i;
    const auto seen_in = [&](Task& task) {
        return through(task.model().parts(), 0, at, Jet::value_only(calibration_)).value();
    };
    HiddenStart start =
        hidden_start(config_, static_cast<int64_t>(i) + 1, calibration_.dtype(), seed_, fits_);
    start.weight = trained_tensor(layer_name(i) + ".weight");
    start.bias = trained_tensor(layer_name(i) + ".bias");
    start.seen = seen_in(trained_);
    layers_[i] = make_hidden_layer(config_, start);
    try {
        layers_[i]->initialize_from_data(seen_in(converted_));
    } catch (const Error& error) {
        if (error.code() != ExitCode::bad_config) throw;
        fail_with(ExitCode::bad_config, "network.hidden: {}: {}", layer_name(i), error.what());
    }
    copy_layer(i);
}

void Conversion::copy_layer(std::size_t i) {
    NamedTensors tensors;
    layers_[i]->visit(layer_name(i),
                      [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
                          tensors.emplace_back(name, tensor.detach());
                      });
    copy_tensors(tensors, converted_.model());
}

// The mean square of the relative errors of a lesson, with the derivatives up to an order.
class Conversion::LessonLoss {
public:
    LessonLoss(const Lesson& lesson, const Tensor& calibration, int64_t order, int64_t width)
        : lesson_(lesson),
          plan_(plan_of(order, calibration.size(1))),
          factors_(channel_factors(lesson.wanted(Jet::input(calibration, plan_)))),
          part_rows_(rows_per_part(plan_->channels(), width, calibration.dtype())) {}

    // The object and its lesson must live as long as what is returned.
    LossParts on(const Tensor& inputs) const {
        const int64_t rows = inputs.size(0);
        return {(rows + part_rows_ - 1) / part_rows_, [this, inputs, rows](int64_t part) {
                    const int64_t begin = part * part_rows_;
                    const int64_t end = std::min(begin + part_rows_, rows);
                    const Jet x = Jet::input(slice(inputs, 0, begin, end), plan_);
                    const Tensor wanted = lesson_.wanted(x).channels();
                    const Tensor difference = lesson_.outputs(x).channels() - wanted;
                    const Tensor loss = sum(square(difference * factors_)) *
                                        (1 / static_cast<double>(rows * wanted.size(2)));
                    return Loss{loss, {}};
                }};
    }

    double error(const Tensor& inputs) const {
        return std::sqrt(loss_values(on(inputs)).front().second);
    }

private:
    const Lesson& lesson_;
    std::shared_ptr<const JetPlan> plan_;
    Tensor factors_;
    int64_t part_rows_;
};

Conversion::Lesson Conversion::network_lesson() {
    return {"network", converted_.model(),
            [&](const Jet& x) { return converted_.model().forward(x); },
            [&](const Jet& x) {
                const NoGrad pause;
                return trained_.model().forward(x);
            }};
}

void Conversion::distil_layers(const DistillationOptions& options) {
    const Lesson network = network_lesson();
    const LessonLoss loss(network, calibration_, options.derivative_order, config_.width);
    const double before = loss.error(others_);
    NamedTensors kept;
    for (const auto& [name, tensor] : named_tensors(converted_.model()))
        kept.emplace_back(name, tensor.clone());

    const std::vector<const Layer*> dense = trained_.model().parts();
    const std::vector<const Layer*> parts = converted_.model().parts();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const std::size_t at = first_ + i;
        if (i > 0) start_layer(i);  // the layers before it make other inputs of it than they did
        distil({layer_name(i), *layers_[i],
                [&, at, i](const Jet& x) { return layers_[i]->forward(through(parts, 0, at, x)); },
                [&, at](const Jet& x) { return through(dense, 0, at + 1, x); }},
               options);
        copy_layer(i);
    }

    const double after = loss.error(others_);
    const bool better = is_better(after, before);
    if (!better) copy_tensors(kept, converted_.model());
    log_.line("layers: error of the network{} {} -> {}{}", order_text(options),
              format_number(before), format_number(after),
              better ? "" : "; that is not better, so all of them stay as they were");
}

void Conversion::distil_network(const DistillationOptions& options) {
    distil(network_lesson(), options);
}

void Conversion::distil(const Lesson& lesson, const DistillationOptions& options) {
    const LessonLoss lesson_loss(lesson, calibration_, options.derivative_order, config_.width);
    const double before = lesson_loss.error(others_);
    const Parameters parameters(lesson.trained);
    const Tensor kept = parameters.values().clone();
    const auto optimizer =
        make_optimizer(AdamConfig{.clipping = {.norm = 1, .value = {}}}, layout_of(parameters));
    const CosineSchedule schedule{.warmup_steps = 0, .steps = {}, .final_factor = 0.01};
    Pace pace(0, options.steps);
    for (int64_t step = 0; step < options.steps; ++step) {
        throw_if_stop_requested();
        const LossParts loss = lesson_loss.on(converted_.fresh_inputs(batch_rows, drawn_++));
        const double rate = options.learning_rate * schedule_factor(schedule, step, options.steps);
        const StepResult result = optimizer->step(parameters.values(), rate, [&] {
            ObjectiveValues values = evaluate_objective(loss, parameters);
            return Evaluation{values.loss.front().second, values.gradient};
        });
        if (result.stop == StopReason::non_finite)
            fail_with(
                ExitCode::non_finite,
                "convert: {}: step {} of the distillation: {}; a lower --learning-rate may help",
                lesson.name, step + 1,
                std::isfinite(result.loss)
                    ? fmt::format("the gradient has the norm {}",
                                  format_number(result.gradient_norm))
                    : fmt::format("the loss is {}", format_number(result.loss)));
        pace.reached(step + 1);
        log_.progress({step + 1,
                       options.steps,
                       result.loss,
                       {},
                       rate,
                       pace.steps_per_second(),
                       pace.seconds_left()},
                      false);
    }
    log_.end_progress();
    const double after = lesson_loss.error(others_);
    const bool better = is_better(after, before);
    if (!better) parameters.values().copy_from(kept);
    log_.line("{}: distilled in {} steps, {:.1f} s: error{} {} -> {}{}", lesson.name, options.steps,
              pace.seconds(), order_text(options), format_number(before), format_number(after),
              better ? "" : "; that is not better, so it stays as it was");
}

Conversion::Errors Conversion::errors(const Tensor& inputs) const {
    const NoGrad pause;
    const std::vector<const Layer*> dense = trained_.model().parts();
    const std::vector<const Layer*> parts = converted_.model().parts();
    Jet wanted = through(dense, 0, first_, Jet::value_only(inputs));
    Jet own = through(parts, 0, first_, Jet::value_only(inputs));
    Errors errors;
    for (std::size_t i = first_; i + 1 < parts.size(); ++i) {
        throw_if_stop_requested();
        wanted = dense[i]->forward(wanted);
        own = parts[i]->forward(own);
        errors.layers.push_back(relative_error(own.value(), wanted.value()));
    }
    errors.model =
        relative_error(converted_.model().forward(inputs), trained_.model().forward(inputs));
    return errors;
}

double Conversion::report(const std::string& when) {
    const Errors on_calibration = errors(calibration_), on_others = errors(others_);
    log_.line("{}: relative RMS error on the inputs of calibration, and on others", when);
    for (std::size_t i = 0; i < layers_.size(); ++i)
        log_.line("  {:<8} {:>10} {:>10}  {}", layer_name(i),
                  format_number(on_calibration.layers[i]), format_number(on_others.layers[i]),
                  layers_[i]->description());
    log_.line("  {:<8} {:>10} {:>10}", "network", format_number(on_calibration.model),
              format_number(on_others.model));
    for (const auto& [name, value] : converted_.evaluate())
        log_.line("  {} {}", name, format_number(value));
    return on_others.model;
}

}  // namespace ralimp
