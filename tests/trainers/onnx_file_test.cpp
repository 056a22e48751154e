// ONNX files: what stands in them, checked by the onnx library; what they compute, by the reference
// implementation of the Python package, where there is one.
#include "trainers/onnx_file.h"

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "autograd/operations.h"
#include "core/describe.h"
#include "core/file.h"
#include "layers/network.h"
#include "tests/error_of.h"
#include "tests/layers/paper_ralimp.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

Tensor uniform(const Shape& shape, uint64_t seed, DType dtype) {
    return random_uniform(shape, {seed}, dtype, -1, 1);
}

// 2 -> 7 with the activation -> 3.
FoldedNetwork network_with(Activation activation, DType dtype, double scale) {
    ChainLayer first{uniform({7, 2}, 1, dtype), uniform({7}, 2, dtype), activation, scale, 1.5};
    // Where f is defined for positive numbers alone, or has a pole at 0.
    if (activation == Activation::sqrt || activation == Activation::log ||
        activation == Activation::reciprocal)
        first.bias = first.bias + 4;
    return FoldedNetwork(std::vector<ChainLayer>{first, {uniform({3, 7}, 3, dtype)}});
}

enum class Norms { none, projected, exact };

// 2 -> features of 5 + 3 degree projections -> 2. Some exponents are above the limit.
FoldedNetwork network_with_features(Norms norms, int64_t degree, DType dtype) {
    const int64_t exponentials = 9;
    ChainLayer first{uniform({5 + 3 * degree, 2}, 4, dtype), uniform({5 + 3 * degree}, 5, dtype)};
    ChainFeatures& features = first.features.emplace();
    features.projections =
        Tensor::from(std::vector<int32_t>{0, 1, 2, 3, 4, 4, 0, 2, 1}, {exponentials});
    features.growth = uniform({exponentials}, 6, dtype) * 2;
    if (norms != Norms::none) features.norm_growth = uniform({exponentials}, 7, dtype) * 0.3;
    if (norms == Norms::exact) features.norm_weights = uniform({2}, 8, dtype) + 1;
    features.exponential_rows = 5;
    features.rows = degree > 0 ? 3 : 0;
    features.degree = degree;
    features.limit.value = 0.5;
    return FoldedNetwork(
        std::vector<ChainLayer>{first, {uniform({2, exponentials + 3 * degree}, 9, dtype)}});
}

// The same exponents, oscillating, with or without an envelope.
FoldedNetwork oscillating_network(Norms norms, bool envelope, int64_t degree, DType dtype) {
    std::vector<ChainLayer> steps = network_with_features(norms, degree, dtype).steps();
    ChainFeatures& features = *steps[0].features;
    const int64_t exponentials = features.exponentials();
    features.rotation = uniform({exponentials}, 10, dtype) * 5;
    if (norms != Norms::none) features.norm_rotation = uniform({exponentials}, 12, dtype);
    if (!envelope) features.growth = features.norm_growth = Tensor();
    steps[1].weight = uniform({2, features.width()}, 9, dtype);
    return FoldedNetwork(std::move(steps));
}

FoldedNetwork trained_network(Split split, FeatureNorm norm, DType dtype) {
    NetworkConfig config;
    RalimpConfig hidden = paper_ralimp();
    hidden.features = 4;
    hidden.split = split;
    hidden.share_polynomial = split != Split::symmetric;
    hidden.norm = norm;
    config.hidden = hidden;
    config.width = 10;
    config.hidden_layers = 3;
    const auto network = make_network(config, {{-1, 0}, {1, 2}}, 2, dtype, 3);
    network->initialize_from_data(uniform({300, 2}, 7, dtype));
    return FoldedNetwork(network->parts());
}

onnx::ModelProto decoded(const FoldedNetwork& network) {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(encode_onnx(network, "kind: pinn\n")));
    return model;
}

std::vector<std::string> operators(const onnx::GraphProto& graph) {
    std::vector<std::string> names;
    for (const auto& node : graph.node()) names.push_back(node.op_type());
    return names;
}

void expect_declared(const onnx::ValueInfoProto& value, const char* name, int type,
                     int64_t features) {
    EXPECT_EQ(value.name(), name);
    EXPECT_EQ(value.type().tensor_type().elem_type(), type);
    const auto& shape = value.type().tensor_type().shape();
    ASSERT_EQ(shape.dim_size(), 2);
    EXPECT_EQ(shape.dim(0).dim_param(), "rows");
    EXPECT_EQ(shape.dim(1).dim_value(), features);
}

void expect_tensor(const onnx::GraphProto& graph, const std::string& name, const Tensor& tensor) {
    for (const auto& one : graph.initializer()) {
        if (one.name() != name) continue;
        EXPECT_EQ(Shape(one.dims().begin(), one.dims().end()), tensor.shape()) << name;
        const std::size_t bytes =
            static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.dtype());
        ASSERT_EQ(one.raw_data().size(), bytes) << name;
        EXPECT_EQ(std::memcmp(one.raw_data().data(), tensor.contiguous().data(), bytes), 0) << name;
        return;
    }
    ADD_FAILURE() << "no tensor " << name;
}

TEST(OnnxFile, HoldsTheNetwork) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        const FoldedNetwork network = network_with_features(Norms::exact, 2, dtype);
        const onnx::ModelProto model = decoded(network);
        const int type =
            dtype == DType::float32 ? onnx::TensorProto::FLOAT : onnx::TensorProto::DOUBLE;
        EXPECT_EQ(model.ir_version(), 8);
        ASSERT_EQ(model.opset_import_size(), 1);
        EXPECT_EQ(model.opset_import(0).domain(), "");
        EXPECT_EQ(model.opset_import(0).version(), 17);
        EXPECT_EQ(model.producer_name(), "ralimp");
        ASSERT_EQ(model.metadata_props_size(), 2);
        EXPECT_EQ(model.metadata_props(1).key(), "config");
        EXPECT_EQ(model.metadata_props(1).value(), "kind: pinn\n");
        const onnx::GraphProto& graph = model.graph();
        ASSERT_EQ(graph.input_size(), 1);
        ASSERT_EQ(graph.output_size(), 1);
        expect_declared(graph.input(0), "x", type, 2);
        expect_declared(graph.output(0), "y", type, 2);
        const ChainLayer& first = network.steps()[0];
        expect_tensor(graph, "step_0.weight", first.weight);
        expect_tensor(graph, "step_0.bias", first.bias);
        expect_tensor(graph, "step_0.projections", first.features->projections);
        expect_tensor(graph, "step_0.growth", first.features->growth);
        expect_tensor(graph, "step_0.norm_growth", first.features->norm_growth);
        expect_tensor(graph, "step_0.norm_weights", unsqueeze(first.features->norm_weights, 1));
        expect_tensor(graph, "step_0.exponent_limit", Tensor::scalar(0.5, dtype));
        expect_tensor(graph, "step_0.split", Tensor::from(std::vector<int64_t>{5, 3, 3}, {3}));
        expect_tensor(graph, "step_1.weight", network.steps()[1].weight);
        EXPECT_EQ(graph.initializer_size(), 9);
        EXPECT_EQ(operators(graph), (std::vector<std::string>{
                                        "Gemm", "Split", "Gather", "Mul", "MatMul", "Mul", "Mul",
                                        "Add", "Min", "Exp", "Mul", "Concat", "Gemm", "Identity"}));
    }
}

TEST(OnnxFile, HoldsPhasesAndTheirEnvelopes) {
    const FoldedNetwork waves = oscillating_network(Norms::none, false, 0, DType::float32);
    const onnx::GraphProto bare = decoded(waves).graph();
    expect_tensor(bare, "step_0.rotation", waves.steps()[0].features->rotation);
    EXPECT_EQ(operators(bare), (std::vector<std::string>{"Gemm", "Gather", "Mul", "Cos", "Sin",
                                                         "Concat", "Gemm", "Identity"}));
    const FoldedNetwork network = oscillating_network(Norms::projected, true, 0, DType::float32);
    const onnx::GraphProto graph = decoded(network).graph();
    const ChainFeatures& features = *network.steps()[0].features;
    expect_tensor(graph, "step_0.growth", features.growth);
    expect_tensor(graph, "step_0.norm_growth", features.norm_growth);
    expect_tensor(graph, "step_0.rotation", features.rotation);
    expect_tensor(graph, "step_0.norm_rotation", features.norm_rotation);
    EXPECT_EQ(operators(graph),
              (std::vector<std::string>{"Gemm", "Gather", "Mul", "ReduceMean", "Mul", "Mul", "Add",
                                        "Min", "Exp", "Mul", "Mul", "Add", "Cos", "Mul", "Sin",
                                        "Mul", "Concat", "Gemm", "Identity"}));
}

struct Case {
    std::string name;
    FoldedNetwork network;
};

std::vector<Case> every_case() {
    std::vector<Case> cases;
    for (const DType dtype : {DType::float32, DType::float64}) {
        const std::string type(name_of(dtype));
        for (const auto& [activation, name] : enum_names(Activation{}))
            for (const double scale : {1.0, 1.7})
                cases.push_back({fmt::format("{}-{}-{}", name, scale, type),
                                 network_with(activation, dtype, scale)});
        for (const Norms norms : {Norms::none, Norms::projected, Norms::exact})
            for (const int64_t degree : {0, 1, 3})
                cases.push_back({fmt::format("features-{}-{}-{}", int(norms), degree, type),
                                 network_with_features(norms, degree, dtype)});
        for (const Norms norms : {Norms::none, Norms::projected, Norms::exact})
            for (const bool envelope : {false, true})
                cases.push_back({fmt::format("waves-{}-{}-{}", int(norms), envelope, type),
                                 oscillating_network(norms, envelope, 2, dtype)});
        for (const Split split : {Split::real_input, Split::phase_input, Split::symmetric})
            for (const FeatureNorm norm :
                 {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
                cases.push_back({fmt::format("network-{}-{}-{}", int(split), int(norm), type),
                                 trained_network(split, norm, dtype)});
    }
    return cases;
}

// By the library's own rules: known operators, attributes and types, values made before they are
// used, each once.
TEST(OnnxFile, PassesTheCheckerForEveryActivation) {
    for (const Case& one : every_case()) {
        const onnx::ModelProto model = decoded(one.network);
        EXPECT_NO_THROW(onnx::checker::check_model(model)) << one.name;
        EXPECT_EQ(encode_onnx(one.network, "a"), encode_onnx(one.network, "a")) << one.name;
        std::set<std::string> names;
        for (const auto& tensor : model.graph().initializer())
            EXPECT_TRUE(names.insert(tensor.name()).second) << one.name << ": " << tensor.name();
    }
}

TEST(OnnxFile, SaysWhereItCannotBeWritten) {
    const Thrown error = error_of([] {
        write_onnx("/no/such/folder/a.onnx", network_with(Activation::tanh, DType::float32, 1), "");
    });
    EXPECT_EQ(error.code, ExitCode::io);
}

// Exit code and output of a command.
std::pair<int, std::string> output_of(const std::string& command) {
    std::string text;
    FILE* const pipe = popen(command.c_str(), "r");
    if (!pipe) return {-1, "popen failed"};
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
        text.append(buffer, count);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

TEST(OnnxFile, ComputesTheSameByTheReferenceImplementation) {
    const char* const venv = std::getenv("RALIMP_VENV");
    const std::string python =
        (venv ? std::string(venv) : SOURCE_DIR "/.venv-peers") + "/bin/python";
    if (!std::filesystem::exists(python))
        GTEST_SKIP() << "there is no " << python << "; tests/bench/install_peers makes it";
    const TemporaryFolder folder;
    std::string command = fmt::format("'{}' '{}/tests/program/check_onnx.py'", python, SOURCE_DIR);
    const std::vector<Case> cases = every_case();
    for (const auto& [name, network] : cases) {
        const std::string path = folder / name;
        write_onnx(path + ".onnx", network, "");
        const DType dtype = network.steps()[0].weight.dtype();
        const Tensor x = uniform({70, network.inputs()}, 11, dtype);
        const std::vector<double> in = x.to_doubles(), out = network.forward(x).to_doubles();
        std::ofstream values(path + ".csv");
        values << "inputs and outputs\n";
        for (std::size_t row = 0; row < 70; ++row) {
            const std::size_t n = in.size() / 70, m = out.size() / 70;
            std::string line;
            for (std::size_t i = 0; i < n; ++i) line += fmt::format("{},", in[row * n + i]);
            for (std::size_t i = 0; i < m; ++i) line += fmt::format("{},", out[row * m + i]);
            line.back() = '\n';
            values << line;
        }
        command += fmt::format(" '{}.onnx' '{}.csv'", path, path);
    }
    const auto [code, text] = output_of(command + " 2>&1");
    if (code == 77) GTEST_SKIP() << text;
    EXPECT_EQ(code, 0) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<int64_t>(cases.size()))
        << text;
}

}  // namespace
}  // namespace ralimp
