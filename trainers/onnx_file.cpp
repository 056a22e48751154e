#include "trainers/onnx_file.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/file.h"
#include "core/scalar.h"
#include "layers/projections.h"

namespace ralimp {
namespace {

// Values are copied as they lie in memory.
static_assert(std::endian::native == std::endian::little);

constexpr int64_t operator_set = 17;
constexpr int64_t format_version = 8;  // of ONNX 1.12, the first with this operator set

using Names = std::vector<std::string>;

int element_type(DType dtype) {
    switch (dtype) {
        case DType::float32:
            return onnx::TensorProto::FLOAT;
        case DType::float64:
            return onnx::TensorProto::DOUBLE;
        case DType::int32:
            return onnx::TensorProto::INT32;
        case DType::int64:
            return onnx::TensorProto::INT64;
        default:
            fail("onnx: {} is not written", name_of(dtype));
    }
}

class GraphWriter {
public:
    GraphWriter(onnx::GraphProto& graph, DType dtype) : graph_(graph), dtype_(dtype) {}

    void declare(onnx::ValueInfoProto& value, const std::string& name, int64_t features) const {
        value.set_name(name);
        onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
        type.set_elem_type(element_type(dtype_));
        type.mutable_shape()->add_dim()->set_dim_param("rows");
        type.mutable_shape()->add_dim()->set_dim_value(features);
    }

    // The names of values and nodes that follow begin with this.
    void begin(const std::string& prefix) {
        prefix_ = prefix;
        count_ = 0;
    }

    std::string tensor(const std::string& part, const Tensor& values) {
        return add_tensor(prefix_ + "." + part, values);
    }
    std::string number(const char* part, double value) {
        return tensor(part, Tensor::scalar(value, dtype_));
    }
    // One for the whole graph.
    std::string constant(const char* name, double value) {
        if (std::find(constants_.begin(), constants_.end(), name) != constants_.end()) return name;
        constants_.push_back(name);
        return add_tensor(name, Tensor::scalar(value, dtype_));
    }

    onnx::NodeProto& node(const char* operation, const Names& inputs, const Names& outputs) {
        onnx::NodeProto& node = *graph_.add_node();
        node.set_op_type(operation);
        node.set_name(outputs.front());
        for (const std::string& input : inputs) node.add_input(input);
        for (const std::string& output : outputs) node.add_output(output);
        return node;
    }
    // With one output, whose name is returned.
    std::string call(const char* operation, const Names& inputs) {
        const std::string name = next_name(operation);
        node(operation, inputs, {name});
        return name;
    }
    std::string call_with(const char* operation, const Names& inputs, const char* attribute,
                          const std::vector<int64_t>& values, bool is_list = false) {
        const std::string name = next_name(operation);
        onnx::AttributeProto& added = *node(operation, inputs, {name}).add_attribute();
        added.set_name(attribute);
        added.set_type(is_list ? onnx::AttributeProto::INTS : onnx::AttributeProto::INT);
        for (const int64_t value : values) is_list ? added.add_ints(value) : added.set_i(value);
        return name;
    }
    std::string next_name(const std::string& operation) {
        return fmt::format("{}.{}_{}", prefix_, operation, count_++);
    }

private:
    std::string add_tensor(const std::string& name, const Tensor& values) {
        onnx::TensorProto& added = *graph_.add_initializer();
        added.set_name(name);
        added.set_data_type(element_type(values.dtype()));
        for (const int64_t size : values.shape()) added.add_dims(size);
        const Tensor rows = values.contiguous();
        added.set_raw_data(rows.data(),
                           static_cast<std::size_t>(rows.elements()) * bytes_of(rows.dtype()));
        return name;
    }

    onnx::GraphProto& graph_;
    DType dtype_;
    std::string prefix_;
    int64_t count_ = 0;
    std::vector<std::string> constants_;
};

// x (1 + g) / 2
std::string half_of_sum(GraphWriter& graph, const std::string& x, const std::string& g) {
    const std::string sum = graph.call("Add", {g, graph.constant("one", 1)});
    return graph.call("Mul", {graph.call("Mul", {x, graph.constant("half", 0.5)}), sum});
}

std::string gaussian(GraphWriter& graph, const std::string& x) {
    return graph.call("Exp", {graph.call("Neg", {graph.call("Mul", {x, x})})});
}

// The formulas of core/activation.h of x, which holds scale z already.
std::string function_of(GraphWriter& graph, const auto& step, const std::string& x) {
    switch (step.activation) {
        case Activation::identity:
            return x;
        case Activation::tanh:
            return graph.call("Tanh", {x});
        case Activation::sin:
            return graph.call("Sin", {x});
        case Activation::cos:
            return graph.call("Cos", {x});
        case Activation::sinh:
            return graph.call("Sinh", {x});
        case Activation::cosh:
            return graph.call("Cosh", {x});
        case Activation::exp:
            return graph.call("Exp", {x});
        case Activation::sigmoid:
            return graph.call("Sigmoid", {x});
        case Activation::softplus: {
            // Not Softplus, which some programs compute as log(1 + e^x): it overflows.
            const std::string size = graph.call("Abs", {x});
            const std::string tail = graph.call("Exp", {graph.call("Neg", {size})});
            const std::string sum = graph.call("Add", {tail, graph.constant("one", 1)});
            return graph.call("Add", {graph.call("Relu", {x}), graph.call("Log", {sum})});
        }
        case Activation::silu:
            return graph.call("Mul", {x, graph.call("Sigmoid", {x})});
        case Activation::gelu: {
            const std::string scaled =
                graph.call("Mul", {x, graph.constant("sqrt_half", scalar::sqrt_half)});
            return half_of_sum(graph, x, graph.call("Erf", {scaled}));
        }
        case Activation::gelu_tanh: {
            const std::string square = graph.call("Mul", {x, x});
            const std::string cube = graph.call("Mul", {square, x});
            const std::string part =
                graph.call("Mul", {cube, graph.constant("gelu_cubic", 0.044715)});
            const std::string u =
                graph.call("Mul", {graph.call("Add", {x, part}),
                                   graph.constant("sqrt_2_by_pi", 0.79788456080286535588)});
            return half_of_sum(graph, x, graph.call("Tanh", {u}));
        }
        case Activation::relu:
            return graph.call("Relu", {x});
        case Activation::gaussian:
            return gaussian(graph, x);
        case Activation::reciprocal:
            return graph.call("Reciprocal", {x});
        case Activation::sqrt:
            return graph.call("Sqrt", {x});
        case Activation::log:
            return graph.call("Log", {x});
        case Activation::wire: {
            const std::string ratio =
                graph.number("ratio", activation::Wire::parameter(step.scale, step.envelope));
            const std::string bell = gaussian(graph, graph.call("Mul", {x, ratio}));
            return graph.call("Mul", {graph.call("Cos", {x}), bell});
        }
        case Activation::finer: {
            const std::string ratio =
                graph.number("ratio", activation::Finer::parameter(step.scale, step.envelope));
            const std::string curved = graph.call("Mul", {x, graph.call("Abs", {x})});
            const std::string added = graph.call("Mul", {curved, ratio});
            return graph.call("Sin", {graph.call("Add", {x, added})});
        }
    }
    fail("onnx: {} is not written", name_of(step.activation));
}

// The squared norms in the exponents, [rows, 1], of the step's input x and the projections p that
// exponents read.
std::string norms_of(GraphWriter& graph, const ChainFeatures& features, const std::string& x,
                     const std::string& p) {
    if (!features.norm_weights.defined())
        return graph.call_with("ReduceMean", {graph.call("Mul", {p, p})}, "axes", {1}, true);
    const int64_t inputs = features.norm_weights.elements();
    const Tensor column = features.norm_weights.contiguous().strided_view({inputs, 1}, {1, 1});
    return graph.call("MatMul", {graph.call("Mul", {x, x}), graph.tensor("norm_weights", column)});
}

// factor read + norm_factor norms, of which one tensor at least is there.
std::string sum_of(GraphWriter& graph, const std::string& read, const std::string& norms,
                   const Tensor& factor, const Tensor& norm_factor, const std::string& name) {
    Names parts;
    if (factor.defined()) parts.push_back(graph.call("Mul", {read, graph.tensor(name, factor)}));
    if (norm_factor.defined())
        parts.push_back(graph.call("Mul", {norms, graph.tensor("norm_" + name, norm_factor)}));
    return parts.size() == 1 ? parts[0] : graph.call("Add", parts);
}

// Those of the exponents.
Names exponentials_of(GraphWriter& graph, const ChainFeatures& features, const std::string& read,
                      const std::string& norms) {
    std::string size;
    if (features.growth.defined() || features.norm_growth.defined()) {
        const std::string z =
            sum_of(graph, read, norms, features.growth, features.norm_growth, "growth");
        const std::string limit = graph.number("exponent_limit", features.limit.value);
        size = graph.call("Exp", {graph.call("Min", {z, limit})});
    }
    if (!features.oscillating()) return {size};
    const std::string phase =
        sum_of(graph, read, norms, features.rotation, features.norm_rotation, "rotation");
    Names parts;
    for (const char* operation : {"Cos", "Sin"}) {
        const std::string wave = graph.call(operation, {phase});
        parts.push_back(size.empty() ? wave : graph.call("Mul", {size, wave}));
    }
    return parts;
}

// The features of x in pieces of these sizes.
Names pieces_of(GraphWriter& graph, const std::string& x, const std::vector<int64_t>& sizes) {
    if (sizes.size() == 1) return {x};
    Names pieces;
    for (std::size_t i = 0; i < sizes.size(); ++i) pieces.push_back(graph.next_name("Split"));
    const std::string split =
        graph.tensor("split", Tensor::from(sizes, {static_cast<int64_t>(sizes.size())}));
    onnx::AttributeProto& axis = *graph.node("Split", {x, split}, pieces).add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(1);
    return pieces;
}

std::string joined(GraphWriter& graph, const Names& parts) {
    return parts.size() == 1 ? parts[0] : graph.call_with("Concat", parts, "axis", {1});
}

// The features of the projections p of the step's input x.
std::string features_of(GraphWriter& graph, const ChainFeatures& features, const std::string& x,
                        const std::string& p) {
    const bool has_exponentials = features.exponentials() > 0;
    // What is shared are all of the exponents' projections: the first that a degree has.
    const bool shared = features.shared_rows > 0;
    check(!shared || (features.polynomial_first() == 0 &&
                      (features.degree == 1 || features.rows == features.exponential_rows)),
          "onnx: the polynomial shares {} of {} projections", features.shared_rows,
          features.exponential_rows);
    std::vector<int64_t> sizes;
    if (features.exponential_rows > 0) sizes.push_back(features.exponential_rows);
    if (shared && features.rows > features.exponential_rows)
        sizes.push_back(features.rows - features.exponential_rows);
    else if (features.rows > 0)
        sizes.insert(sizes.end(), features.degree - (shared ? 1 : 0), features.rows);
    const Names pieces = pieces_of(graph, p, sizes);
    auto piece = pieces.begin();
    Names parts;
    if (features.exponential_rows > 0) {
        const std::string own = *piece;
        if (!shared) ++piece;
        if (has_exponentials) {
            const std::string read = graph.call_with(
                "Gather", {own, graph.tensor("projections", features.projections)}, "axis", {1});
            const std::string norms =
                features.has_norms() ? norms_of(graph, features, x, own) : std::string();
            parts = exponentials_of(graph, features, read, norms);
        }
    }
    if (shared && features.degree == 1)
        parts.push_back(p);
    else
        for (bool first = true; piece != pieces.end(); ++piece, first = false)
            parts.push_back(first ? *piece : graph.call("Mul", {parts.back(), *piece}));
    return joined(graph, parts);
}

// f(scale p)
std::string activation_of(GraphWriter& graph, const auto& step, std::string p) {
    if (step.scale != 1) p = graph.call("Mul", {p, graph.number("scale", step.scale)});
    return function_of(graph, step, p);
}

std::string step_of(GraphWriter& graph, const ChainLayer& step, const std::string& x) {
    Names inputs{x, graph.tensor("weight", step.weight)};
    if (step.bias.defined()) inputs.push_back(graph.tensor("bias", step.bias));
    const std::string p = graph.call_with("Gemm", inputs, "transB", {1});
    return step.features ? features_of(graph, *step.features, x, p) : activation_of(graph, step, p);
}

std::string step_of(GraphWriter& graph, const BlockProduct& step, const std::string& x) {
    std::vector<int64_t> sizes;
    for (const Tensor& block : step.blocks) sizes.push_back(block.size(1));
    Names results;
    for (const std::string& piece : pieces_of(graph, x, sizes)) {
        const std::size_t block = results.size();
        const Names inputs{piece, graph.tensor(fmt::format("block_{}", block), step.blocks[block])};
        results.push_back(graph.call_with("Gemm", inputs, "transB", {1}));
    }
    std::string p = joined(graph, results);
    if (step.turn > 0) {
        const std::string order = graph.tensor("order", taken_in_turn(step.blocks, step.turn));
        p = graph.call_with("Gather", {p, order}, "axis", {1});
    }
    if (step.bias.defined()) p = graph.call("Add", {p, graph.tensor("bias", step.bias)});
    return activation_of(graph, step, p);
}

std::string step_of(GraphWriter& graph, const RowProducts& step, const std::string& x) {
    std::vector<int64_t> sizes;
    if (step.kept > 0) sizes.push_back(step.kept);
    const int64_t groups = product_groups(step.degree, step.share_rows);
    sizes.insert(sizes.end(), static_cast<std::size_t>(groups), step.rows);
    const Names pieces = pieces_of(graph, x, sizes);
    auto piece = pieces.begin();
    Names parts;
    if (step.kept > 0) parts.push_back(*piece++);
    for (int64_t degree = 1; degree <= step.degree; ++degree) {
        // Rows that are shared go on with the product of the degree before.
        int64_t factors = step.share_rows && degree > 1 ? degree - 1 : 0;
        std::string product = factors > 0 ? parts.back() : *piece++;
        for (factors = std::max<int64_t>(factors, 1); factors < degree; ++factors)
            product = graph.call("Mul", {product, *piece++});
        parts.push_back(product);
    }
    return joined(graph, parts);
}

std::string step_of(GraphWriter& graph, const InputNorm& step, const std::string& x) {
    const std::string squares = graph.call_with("ReduceSumSquare", {x}, "axes", {1}, true);
    const std::string floor = graph.number("floor_squared", step.floor * step.floor);
    return joined(graph, {x, graph.call("Sqrt", {graph.call("Add", {squares, floor})})});
}

void set_property(onnx::ModelProto& model, const char* key, const std::string& value) {
    onnx::StringStringEntryProto& property = *model.add_metadata_props();
    property.set_key(key);
    property.set_value(value);
}

}  // namespace

std::string encode_onnx(const FoldedNetwork& network, const std::string& config) {
    onnx::ModelProto model;
    model.set_ir_version(format_version);
    model.add_opset_import()->set_version(operator_set);
    model.set_producer_name("ralimp");
    model.set_producer_version(RALIMP_VERSION);
    set_property(model, "kind", "folded network");
    set_property(model, "config", config);

    onnx::GraphProto& proto = *model.mutable_graph();
    proto.set_name("folded network");
    GraphWriter graph(proto, network.dtype());
    graph.declare(*proto.add_input(), "x", network.inputs());
    graph.declare(*proto.add_output(), "y", network.outputs());
    std::string value = "x";
    for (std::size_t i = 0; i < network.steps().size(); ++i) {
        graph.begin(fmt::format("step_{}", i));
        value = std::visit([&](const auto& step) { return step_of(graph, step, value); },
                           network.steps()[i]);
    }
    graph.node("Identity", {value}, {"y"});

    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int32_t>::max());
    if (const std::size_t bytes = model.ByteSizeLong(); bytes > most)
        fail_with(ExitCode::bad_config,
                  "export: {} bytes, of which ONNX files hold 2 GiB; --format safetensors and hdf5 "
                  "hold more",
                  bytes);
    return model.SerializeAsString();
}

void write_onnx(const std::string& path, const FoldedNetwork& network, const std::string& config) {
    const std::string bytes = encode_onnx(network, config);
    write_file(path, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace ralimp
