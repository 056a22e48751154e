#include "trainers/task.h"

#include <algorithm>
#include <bit>

#include "autograd/operations.h"
#include "trainers/signals.h"

namespace ralimp {

int64_t rows_per_part(int64_t channels, int64_t width, DType dtype) {
    constexpr int64_t layer_bytes = 200'000;
    // Each part has a gradient of its own: small for small networks, so that their parts may be
    // smaller.
    const int64_t fewest = width <= LayerChainProgram::max_trained_width ? 256 : 1024;
    const int64_t row = channels * width * static_cast<int64_t>(bytes_of(dtype));
    const auto rows = static_cast<uint64_t>(std::clamp<int64_t>(layer_bytes / row, fewest, 65536));
    return static_cast<int64_t>(std::bit_floor(rows));
}

Tensor in_pieces(const Tensor& inputs, const std::function<Tensor(const Tensor&)>& f) {
    constexpr int64_t most_rows = 16384;
    NoGrad no_grad;
    const int64_t rows = inputs.size(0);
    Tensors pieces;
    for (int64_t begin = 0; begin < rows; begin += most_rows) {
        throw_if_stop_requested();
        pieces.push_back(f(slice(inputs, 0, begin, std::min(begin + most_rows, rows))));
    }
    return concatenate(pieces);
}

std::vector<std::string> Task::render(const std::filesystem::path&, const RenderRequest&) {
    fail_with(ExitCode::bad_config, "render: --size and --derivatives are for siren runs, not {}",
              kind());
}

NamedValues Task::evaluate_on(const std::vector<int64_t>&) {
    fail_with(ExitCode::bad_config, "evaluate: --grid is for pinn runs; this is a {} run", kind());
}

void Task::draw_frames(const std::filesystem::path&, int64_t) {
    fail_with(ExitCode::bad_config, "render: --frames is for pinn runs; this is a {} run", kind());
}

FieldData Task::predict(const PredictionPlace&) {
    fail_with(ExitCode::bad_config,
              "predict: is for pinn runs; this is a {} run, whose values ralimp render draws",
              kind());
}

void Task::export_mesh(const ExportRequest&, const std::function<void(const std::string&)>&) {
    fail_with(ExitCode::bad_config,
              "export: surfaces are those of sdf runs, not {}; --format safetensors, onnx or hdf5 "
              "writes its network",
              kind());
}

}  // namespace ralimp
