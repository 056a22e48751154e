// Folded networks as files: what is written is read again, and nothing else is.
#include "trainers/deployed_file.h"

#include <gtest/gtest.h>

#include "autograd/operations.h"
#include "core/file.h"
#include "data/safetensors.h"
#include "layers/network.h"
#include "tests/error_of.h"
#include "tests/layers/paper_ralimp.h"
#include "tests/temporary_folder.h"
#include "trainers/checkpoint.h"

namespace ralimp {
namespace {

FoldedNetwork folded_network(const HiddenConfig& hidden, DType dtype, int64_t width = 10) {
    NetworkConfig config;
    config.hidden = hidden;
    config.width = width;
    config.hidden_layers = 3;
    const auto network = make_network(config, {{-1, 0}, {1, 2}}, 2, dtype, 3);
    network->initialize_from_data(random_uniform({300, 2}, {7}, dtype, -1, 1));
    return FoldedNetwork(network->parts());
}

FoldedNetwork folded_network(DType dtype, Split split = Split::real_input,
                             FeatureNorm norm = FeatureNorm::exact) {
    RalimpConfig hidden = paper_ralimp();
    hidden.features = 4;
    hidden.split = split;
    hidden.norm = norm;
    return folded_network(hidden, dtype);
}

// Of every kind of step: the dense first layer is step 0, behind it the hidden layer's.
std::vector<HiddenConfig> other_kinds() {
    RalimpConfig own_rows = paper_ralimp();
    own_rows.features = 4;
    own_rows.degree = 3;
    own_rows.share_rows = false;
    RalimpConfig sharing = own_rows;
    sharing.share_polynomial = true;
    return {DenseHiddenConfig{},
            NarrowConfig{7},
            LowRankConfig{.rank = 3},
            SnnkConfig{},
            EugenConfig{},
            EugenConfig{.degree = 3, .share_rows = true},
            MonarchConfig{3},
            TensorTrainConfig{1},
            own_rows,
            sharing};
}

class DeployedFile : public ::testing::Test {
protected:
    TemporaryFolder folder_;
    std::string path_ = folder_ / "deployed.h5";
    std::string safetensors_ = folder_ / "deployed.safetensors";

    // The error of reading the file after a change of what stands in it.
    template <class F>
    Thrown error_after(F&& change, const HiddenConfig& hidden) {
        write_deployed(path_, folded_network(hidden, DType::float32), "");
        Checkpoint file = read_checkpoint(path_);
        change(file);
        write_checkpoint(path_, file);
        return error_of([&] { read_deployed(path_); });
    }
};

TEST_F(DeployedFile, ComputesTheSameBitsAfterReading) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        const FoldedNetwork network = folded_network(dtype);
        write_deployed(path_, network, "kind: pinn\n");
        const FoldedNetwork read = read_deployed(path_);
        EXPECT_EQ(read.cost().numbers, network.cost().numbers);
        for (const int64_t rows : {1, 100}) {
            const Tensor x = random_uniform({rows, 2}, {8}, dtype, -1, 1);
            EXPECT_EQ(read.forward(x).to_doubles(), network.forward(x).to_doubles());
        }
    }
}

TEST_F(DeployedFile, HoldsEveryKindOfStep) {
    for (const HiddenConfig& kind : other_kinds())
        for (const DType dtype : {DType::float32, DType::float64}) {
            SCOPED_TRACE(fmt::format("{} {}", kind.index(), name_of(dtype)));
            const FoldedNetwork network = folded_network(kind, dtype, 13);
            write_deployed(path_, network, "");
            write_deployed_safetensors(safetensors_, network, "");
            const FoldedNetwork read = read_deployed(path_),
                                tensors = read_deployed_safetensors(safetensors_);
            EXPECT_EQ(read.cost().numbers, network.cost().numbers);
            EXPECT_EQ(read.steps().size(), network.steps().size());
            for (const int64_t rows : {1, 100}) {
                const Tensor x = random_uniform({rows, 2}, {8}, dtype, -1, 1);
                const std::vector<double> expected = network.forward(x).to_doubles();
                EXPECT_EQ(read.forward(x).to_doubles(), expected);
                EXPECT_EQ(tensors.forward(x).to_doubles(), expected);
            }
        }
    write_deployed(path_, folded_network(MonarchConfig{3}, DType::float32, 13), "");
    const Checkpoint file = read_checkpoint(path_);
    EXPECT_EQ(file.text("step_1.kind"), "blocks");
    EXPECT_EQ(file.whole_number("step_1.blocks"), 3);
    EXPECT_EQ(file.whole_number("step_1.turn"), 1);
    EXPECT_EQ(file.whole_number("step_2.turn"), 0);
    EXPECT_EQ(file.tensors.at("network/step_1.block_2").shape(), (Shape{4, 4}));
    EXPECT_EQ(file.tensors.at("network/step_2.bias").shape(), Shape{13});
}

TEST_F(DeployedFile, HoldsFeaturesThatOscillate) {
    for (const Split split : {Split::phase_input, Split::symmetric})
        for (const FeatureNorm norm :
             {FeatureNorm::exact, FeatureNorm::projected, FeatureNorm::none})
            for (const DType dtype : {DType::float32, DType::float64}) {
                const FoldedNetwork network = folded_network(dtype, split, norm);
                write_deployed(path_, network, "");
                write_deployed_safetensors(safetensors_, network, "");
                const FoldedNetwork read = read_deployed(path_);
                EXPECT_EQ(read.cost().numbers, network.cost().numbers);
                for (const int64_t rows : {1, 100}) {
                    const Tensor x = random_uniform({rows, 2}, {8}, dtype, -1, 1);
                    const std::vector<double> expected = network.forward(x).to_doubles();
                    EXPECT_EQ(read.forward(x).to_doubles(), expected);
                    EXPECT_EQ(read_deployed_safetensors(safetensors_).forward(x).to_doubles(),
                              expected);
                }
            }
    write_deployed(path_, folded_network(DType::float32, Split::phase_input, FeatureNorm::none),
                   "");
    const Checkpoint bare = read_checkpoint(path_);
    EXPECT_EQ(bare.tensors.count("network/step_1.rotation"), 1u);
    EXPECT_EQ(bare.tensors.count("network/step_1.growth"), 0u);
}

// Neither a growth nor a rotation, and a rotation that does not fit.
TEST_F(DeployedFile, RefusesFeaturesWithoutExponents) {
    const auto error_after_change = [&](auto change) {
        write_deployed(path_, folded_network(DType::float32, Split::symmetric), "");
        Checkpoint file = read_checkpoint(path_);
        change(file.tensors);
        write_checkpoint(path_, file);
        const Thrown error = error_of([&] { read_deployed(path_); });
        EXPECT_EQ(error.code, ExitCode::bad_input);
        return error.text;
    };
    EXPECT_NE(error_after_change([](auto& tensors) {
                  tensors.erase("network/step_1.growth");
                  tensors.erase("network/step_1.rotation");
              }).find("step_1 has no growth"),
              std::string::npos);
    EXPECT_NE(error_after_change([](auto& tensors) {
                  tensors.erase("network/step_1.rotation");
              }).find("features of step 1 do not fit"),
              std::string::npos);
    EXPECT_NE(error_after_change([](auto& tensors) {
                  tensors["network/step_1.rotation"] = Tensor::zeros({5});
              }).find("features of step 1 do not fit"),
              std::string::npos);
}

TEST_F(DeployedFile, IsTheSameAsSafetensors) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        const FoldedNetwork network = folded_network(dtype);
        write_deployed(path_, network, "kind: pinn\n");
        write_deployed_safetensors(safetensors_, network, "kind: pinn\n");
        const Tensor x = random_uniform({100, 2}, {8}, dtype, -1, 1);
        EXPECT_EQ(read_deployed_safetensors(safetensors_).forward(x).to_doubles(),
                  network.forward(x).to_doubles());
        const Checkpoint hdf5 = read_checkpoint(path_);
        const Safetensors file = read_safetensors(safetensors_);
        ASSERT_EQ(file.tensors.size(), hdf5.tensors.size());
        for (const auto& [name, tensor] : hdf5.tensors)
            EXPECT_EQ(file.tensors.at(name).to_doubles(), tensor.to_doubles()) << name;
        EXPECT_EQ(file.metadata.at("config"), hdf5.config);
        EXPECT_EQ(file.metadata.size(), hdf5.values.size() + 2);
        EXPECT_EQ(file.metadata.at("step_1.degree"), "2");
        EXPECT_EQ(file.metadata.at("step_1.exponent_limit"), "20");
        EXPECT_EQ(file.metadata.at("step_0.activation"), "tanh");
    }
}

// No checksum keeps damage out of these.
TEST_F(DeployedFile, RefusesSafetensorsThatDoNotFitThemselves) {
    using Change = std::function<void(Safetensors&)>;
    const std::pair<Change, const char*> cases[] = {
        {[](Safetensors& f) { f.metadata.clear(); }, "is no folded network"},
        {[](Safetensors& f) { f.metadata["steps"] = ""; }, "steps is no number: ''"},
        {[](Safetensors& f) { f.metadata["steps"] = "1e3"; }, "steps is no number: '1e3'"},
        {[](Safetensors& f) { f.metadata["steps"] = "99999999999999999999"; }, "is no number"},
        {[](Safetensors& f) { f.metadata["steps"] = "-1"; }, "it has -1 steps"},
        {[](Safetensors& f) { f.metadata["step_0.scale"] = "1,5"; }, "step_0.scale is no number"},
        {[](Safetensors& f) { f.metadata.erase("step_0.scale"); }, "step_0.scale"},
        {[](Safetensors& f) { f.metadata["step_0.activation"] = "1"; }, "the activation '1'"},
        {[](Safetensors& f) { f.metadata["step_1.kind"] = "2"; }, "of no known kind: '2'"},
        {[](Safetensors& f) { f.metadata["step_1.exponent_limit"] = "nan"; }, "limit"},
        {[](Safetensors& f) { f.tensors.erase("network/step_1.growth"); }, "step_1 has no growth"},
        {[](Safetensors& f) {
             f.tensors["network/step_1.projections"] = Tensor::full({24}, -1, DType::int32);
         },
         "projections"},
        {[](Safetensors& f) {
             f.tensors["network/step_0.weight"] = Tensor::zeros({10, 2}, DType::int64);
         },
         "step"}};
    int number = 0;
    for (const auto& [change, expected] : cases) {
        write_deployed_safetensors(safetensors_, folded_network(DType::float32), "");
        Safetensors file = read_safetensors(safetensors_);
        change(file);
        write_safetensors(safetensors_, file);
        const Thrown error = error_of([&] { read_deployed_safetensors(safetensors_); });
        EXPECT_EQ(error.code, ExitCode::bad_input) << number;
        EXPECT_NE(error.text.find(expected), std::string::npos) << number << ": " << error.text;
        EXPECT_EQ(error.text.find(safetensors_), 0u) << error.text;
        ++number;
    }
}

TEST_F(DeployedFile, RefusesWhatDoesNotFitItself) {
    using Change = std::function<void(Checkpoint&)>;
    const std::pair<Change, const char*> cases[] = {
        {[](Checkpoint& f) { f.values.erase("kind"); }, "is no folded network"},
        {[](Checkpoint& f) { f.values["kind"] = std::string("pinn"); }, "is no folded network"},
        {[](Checkpoint& f) { f.values["steps"] = int64_t{0}; }, "it has 0 steps"},
        {[](Checkpoint& f) { f.values["steps"] = int64_t{9}; }, "step_"},
        {[](Checkpoint& f) { f.values["step_0.activation"] = std::string("tan"); },
         "step_0 has the activation 'tan'"},
        {[](Checkpoint& f) { f.values["step_1.kind"] = std::string("poem"); },
         "step_1 is of no known kind: 'poem'"},
        {[](Checkpoint& f) { f.values.erase("step_1.kind"); }, "step_1.kind"},
        {[](Checkpoint& f) { f.tensors.erase("network/step_0.weight"); }, "step_0 has no weight"},
        {[](Checkpoint& f) {
             f.tensors["network/step_0.weight"] = Tensor::zeros({9, 2});
         },
         "step"},
        {[](Checkpoint& f) { f.tensors["network/step_0.bias"] = Tensor::zeros({9}); },
         "step 0 has weights"},
        {[](Checkpoint& f) {
             f.tensors["network/step_0.weight"] = Tensor::zeros({10, 2}, DType::float64);
         },
         "step"},
        {[](Checkpoint& f) { f.values["step_1.rows"] = int64_t{1} << 62; }, "do not fit"},
        {[](Checkpoint& f) { f.values["step_1.degree"] = int64_t{-1}; }, "do not fit"},
        {[](Checkpoint& f) { f.values["step_1.degree"] = int64_t{1}; }, "do not fit"},
        {[](Checkpoint& f) { f.values["step_1.exponent_limit"] = -1.0; }, "limit"},
        {[](Checkpoint& f) {
             f.tensors["network/step_1.projections"] = Tensor::full({24}, 99, DType::int32);
         },
         "projections"},
        {[](Checkpoint& f) { f.tensors["network/step_1.growth"] = Tensor::zeros({23}); },
         "do not fit"}};
    RalimpConfig ralimp = paper_ralimp();
    ralimp.features = 4;
    ralimp.norm = FeatureNorm::exact;
    int number = 0;
    for (const auto& [change, expected] : cases) {
        const Thrown error = error_after(change, ralimp);
        EXPECT_EQ(error.code, ExitCode::bad_input) << number;
        EXPECT_NE(error.text, "") << number;
        EXPECT_NE(error.text.find(expected), std::string::npos) << number << ": " << error.text;
        EXPECT_EQ(error.text.find(path_), 0u) << error.text;
        ++number;
    }
    write_file(path_, std::vector<uint8_t>(100, 7));
    EXPECT_EQ(error_of([&] { read_deployed(path_); }).code, ExitCode::bad_input);
    EXPECT_EQ(error_of([&] { read_deployed(path_ + ".not"); }).code, ExitCode::bad_input);
}

// A step of blocks, then one of |x| with a linear map and one of products.
TEST_F(DeployedFile, RefusesOtherStepsThatDoNotFitThemselves) {
    struct Damage {
        std::function<void(Checkpoint&)> change;
        const char* expected;
    };
    const auto expect_refused = [&](const HiddenConfig& kind, const std::vector<Damage>& damages) {
        for (std::size_t i = 0; i < damages.size(); ++i) {
            const Thrown error = error_after(damages[i].change, kind);
            EXPECT_EQ(error.code, ExitCode::bad_input) << i;
            EXPECT_NE(error.text.find(damages[i].expected), std::string::npos)
                << i << ": " << error.text;
            EXPECT_EQ(error.text.find(path_), 0u) << error.text;
            EXPECT_EQ(error.text.find('\n'), std::string::npos) << error.text;
        }
    };
    const auto set = [](const char* name, CheckpointValue value) {
        return [=](Checkpoint& f) { f.values[name] = value; };
    };
    const auto replace = [](const char* name, const Tensor& tensor) {
        return [=](Checkpoint& f) { f.tensors[name] = tensor; };
    };
    expect_refused(
        MonarchConfig{3},
        {{set("step_1.blocks", int64_t{0}), "step_1 has 0 blocks"},
         {set("step_1.blocks", int64_t{1} << 62), "step_1 has 4611686018427387904 blocks"},
         {set("step_1.blocks", int64_t{4}), "step_1 has no block_3"},
         {set("step_1.blocks", int64_t{2}), "step 1 takes 7 features after 10"},
         {set("step_1.blocks", 3.0), "step_1.blocks"},
         {set("step_1.turn", int64_t{-1}), "-1 results of each in turn"},
         {set("step_1.turn", int64_t{1} << 62), "results of each in turn"},
         {set("step_2.activation", std::string("tan")), "step_2 has the activation 'tan'"},
         {[](Checkpoint& f) { f.values.erase("step_2.scale"); }, "step_2.scale"},
         {[](Checkpoint& f) { f.tensors.erase("network/step_2.block_1"); },
          "step_2 has no block_1"},
         {replace("network/step_1.block_0", Tensor::zeros({4, 5})), "step 1 takes 11 features"},
         {replace("network/step_1.block_0", Tensor::zeros({4})), "a block of step 1 is"},
         {replace("network/step_1.block_0", Tensor::zeros({4, 4}, DType::float64)),
          "a block of step 1 is float64"},
         {replace("network/step_2.bias", Tensor::zeros({9})), "step 2 has biases"}});
    expect_refused(EugenConfig{.features = 4},
                   {{set("step_1.inputs", int64_t{0}), "step 1 is the norm of 0 inputs"},
                    {set("step_1.inputs", int64_t{11}), "step 1 takes 11 features after 10"},
                    {set("step_1.floor", double(NAN)), "a floor of nan"},
                    {set("step_1.floor", -1.0), "a floor of -1"},
                    {set("step_3.kept", int64_t{-1}), "step 3 keeps -1 features"},
                    {set("step_3.rows", int64_t{5}), "step 3 takes 15 features after 12"},
                    {set("step_3.rows", int64_t{1} << 62), "step 3 keeps"},
                    {set("step_3.degree", int64_t{1} << 62), "step 3 keeps"},
                    {set("step_3.degree", int64_t{0}), "up to degree 0"},
                    {set("step_3.share_rows", int64_t{1}), "step 3 takes 8 features after 12"},
                    {set("step_3.share_rows", int64_t{2}), "step_3 has share_rows 2"},
                    {[](Checkpoint& f) { f.values.erase("step_3.kept"); }, "step_3.kept"}});
}

}  // namespace
}  // namespace ralimp
