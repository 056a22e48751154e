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
    return FoldedNetwork({first, ChainLayer{uniform({3, 7}, 3, dtype)}});
}

const ChainLayer& layer(const FoldedNetwork& network, std::size_t step) {
    return std::get<ChainLayer>(network.steps()[step]);
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
    return FoldedNetwork({first, ChainLayer{uniform({2, exponentials + 3 * degree}, 9, dtype)}});
}

// The same exponents, oscillating, with or without an envelope.
FoldedNetwork oscillating_network(Norms norms, bool envelope, int64_t degree, DType dtype) {
    const FoldedNetwork real = network_with_features(norms, degree, dtype);
    std::vector<ChainLayer> steps{layer(real, 0), layer(real, 1)};
    ChainFeatures& features = *steps[0].features;
    const int64_t exponentials = features.exponentials();
    features.rotation = uniform({exponentials}, 10, dtype) * 5;
    if (norms != Norms::none) features.norm_rotation = uniform({exponentials}, 12, dtype);
    if (!envelope) features.growth = features.norm_growth = Tensor();
    steps[1].weight = uniform({2, features.width()}, 9, dtype);
    return FoldedNetwork({steps[0], steps[1]});
}

FoldedNetwork trained_network(const HiddenConfig& hidden, DType dtype,
                              Activation activation = Activation::tanh, int64_t width = 10) {
    NetworkConfig config;
    config.hidden = hidden;
    config.width = width;
    config.activation = activation;
    config.hidden_layers = 3;
    const auto network = make_network(config, {{-1, 0}, {1, 2}}, 2, dtype, 3);
    network->initialize_from_data(uniform({300, 2}, 7, dtype));
    return FoldedNetwork(network->parts());
}

RalimpConfig ralimp_of(Split split, FeatureNorm norm) {
    RalimpConfig config = paper_ralimp();
    config.features = 4;
    config.split = split;
    config.share_polynomial = split != Split::symmetric;
    config.norm = norm;
    return config;
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
        const ChainLayer& first = layer(network, 0);
        expect_tensor(graph, "step_0.weight", first.weight);
        expect_tensor(graph, "step_0.bias", first.bias);
        expect_tensor(graph, "step_0.projections", first.features->projections);
        expect_tensor(graph, "step_0.growth", first.features->growth);
        expect_tensor(graph, "step_0.norm_growth", first.features->norm_growth);
        expect_tensor(graph, "step_0.norm_weights", unsqueeze(first.features->norm_weights, 1));
        expect_tensor(graph, "step_0.exponent_limit", Tensor::scalar(0.5, dtype));
        expect_tensor(graph, "step_0.split", Tensor::from(std::vector<int64_t>{5, 3, 3}, {3}));
        expect_tensor(graph, "step_1.weight", layer(network, 1).weight);
        EXPECT_EQ(graph.initializer_size(), 9);
        EXPECT_EQ(operators(graph), (std::vector<std::string>{
                                        "Gemm", "Split", "Gather", "Mul", "MatMul", "Mul", "Mul",
                                        "Add", "Min", "Exp", "Mul", "Concat", "Gemm", "Identity"}));
    }
}

TEST(OnnxFile, HoldsPhasesAndTheirEnvelopes) {
    const FoldedNetwork waves = oscillating_network(Norms::none, false, 0, DType::float32);
    const onnx::GraphProto bare = decoded(waves).graph();
    expect_tensor(bare, "step_0.rotation", layer(waves, 0).features->rotation);
    EXPECT_EQ(operators(bare), (std::vector<std::string>{"Gemm", "Gather", "Mul", "Cos", "Sin",
                                                         "Concat", "Gemm", "Identity"}));
    const FoldedNetwork network = oscillating_network(Norms::projected, true, 0, DType::float32);
    const onnx::GraphProto graph = decoded(network).graph();
    const ChainFeatures& features = *layer(network, 0).features;
    expect_tensor(graph, "step_0.growth", features.growth);
    expect_tensor(graph, "step_0.norm_growth", features.norm_growth);
    expect_tensor(graph, "step_0.rotation", features.rotation);
    expect_tensor(graph, "step_0.norm_rotation", features.norm_rotation);
    EXPECT_EQ(operators(graph),
              (std::vector<std::string>{"Gemm", "Gather", "Mul", "ReduceMean", "Mul", "Mul", "Add",
                                        "Min", "Exp", "Mul", "Mul", "Add", "Cos", "Mul", "Sin",
                                        "Mul", "Concat", "Gemm", "Identity"}));
}

// Blocks, their order, the norm and products, each in standard operators.
TEST(OnnxFile, HoldsStepsThatAreNoChains) {
    const auto dtype = DType::float64;
    const BlockProduct blocks{.blocks = {uniform({3, 2}, 1, dtype), uniform({2, 1}, 2, dtype)},
                              .bias = uniform({5}, 3, dtype),
                              .turn = 1,
                              .activation = Activation::sin,
                              .scale = 2};
    const onnx::GraphProto graph =
        decoded(FoldedNetwork({blocks, InputNorm{.inputs = 5, .floor = 0.5},
                               RowProducts{.kept = 3, .rows = 1, .degree = 2},
                               RowProducts{.kept = 1, .rows = 2, .degree = 2, .share_rows = true}}))
            .graph();
    expect_declared(graph.input(0), "x", onnx::TensorProto::DOUBLE, 3);
    expect_declared(graph.output(0), "y", onnx::TensorProto::DOUBLE, 5);
    expect_tensor(graph, "step_0.split", Tensor::from(std::vector<int64_t>{2, 1}, {2}));
    expect_tensor(graph, "step_0.block_0", blocks.blocks[0]);
    expect_tensor(graph, "step_0.block_1", blocks.blocks[1]);
    expect_tensor(graph, "step_0.order", Tensor::from(std::vector<int64_t>{0, 3, 1, 4, 2}, {5}));
    expect_tensor(graph, "step_0.bias", blocks.bias);
    expect_tensor(graph, "step_1.floor_squared", Tensor::scalar(0.25, dtype));
    EXPECT_EQ(operators(graph),
              (std::vector<std::string>{"Split", "Gemm", "Gemm", "Concat", "Gather", "Add", "Mul",
                                        "Sin", "ReduceSumSquare", "Add", "Sqrt", "Concat", "Split",
                                        "Mul", "Concat", "Split", "Mul", "Concat", "Identity"}));
}

struct Case {
    std::string name;
    FoldedNetwork network;
};

// Of steps that are no chains: 13 features in blocks of uneven sizes, products of rows.
std::vector<Case> networks_of_steps(DType dtype) {
    std::vector<Case> cases;
    for (const Activation activation : {Activation::tanh, Activation::wire})
        cases.push_back({fmt::format("monarch-{}", name_of(activation)),
                         trained_network(MonarchConfig{3}, dtype, activation, 13)});
    cases.push_back(
        {"tensor-train", trained_network(TensorTrainConfig{1}, dtype, Activation::sin, 13)});
    cases.push_back({"one-block", FoldedNetwork({BlockProduct{.blocks = {uniform({3, 2}, 1, dtype)},
                                                              .turn = 2,
                                                              .activation = Activation::sin,
                                                              .scale = 1.7}})});
    for (const bool share_rows : {false, true})
        for (const int64_t degree : {1, 2, 3}) {
            const std::string name = fmt::format("{}-{}", degree, share_rows);
            cases.push_back({"eugen-" + name, trained_network(EugenConfig{.features = 4,
                                                                          .degree = degree,
                                                                          .share_rows = share_rows},
                                                              dtype)});
            RalimpConfig polynomial = paper_ralimp();
            polynomial.features = 4;
            polynomial.degree = degree;
            polynomial.share_rows = share_rows;
            polynomial.pole_pairs = 0;
            cases.push_back({"polynomial-" + name, trained_network(polynomial, dtype)});
            for (const bool share_polynomial : {false, true})
                for (const Split split : {Split::real_input, Split::phase_input}) {
                    RalimpConfig config = ralimp_of(split, FeatureNorm::projected);
                    config.degree = degree;
                    config.share_rows = share_rows;
                    config.share_polynomial = share_polynomial;
                    cases.push_back(
                        {fmt::format("rows-{}-{}-{}", int(split), share_polynomial, name),
                         trained_network(config, dtype)});
                }
        }
    return cases;
}

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
                                 trained_network(ralimp_of(split, norm), dtype)});
    }
    for (const DType dtype : {DType::float32, DType::float64})
        for (const auto& [name, network] : networks_of_steps(dtype))
            cases.push_back({fmt::format("{}-{}", name, name_of(dtype)), network});
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
        const DType dtype = network.dtype();
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
