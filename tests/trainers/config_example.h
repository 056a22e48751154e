// A config with a field of every kind, and helpers shared by the config tests.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "tests/temporary_folder.h"
#include "trainers/config.h"

namespace ralimp::config_example {

enum class Activation { tanh, sine, relu };
constexpr auto enum_names(Activation) {
    return std::array{std::pair{Activation::tanh, "tanh"}, std::pair{Activation::sine, "sine"},
                      std::pair{Activation::relu, "relu"}};
}

struct SgdConfig {
    static constexpr const char* kind = "sgd";
    double learning_rate = 0.1;
    double momentum = 0;
    static void describe(auto& config, auto& field) {
        field("learning_rate", config.learning_rate, "step size", more_than(0));
        field("momentum", config.momentum, "share of the last step", at_least(0).less_than(1));
    }
    bool operator==(const SgdConfig&) const = default;
};

struct AdamConfig {
    static constexpr const char* kind = "adam";
    double learning_rate = 1e-3;
    std::array<double, 2> betas{0.9, 0.999};
    static void describe(auto& config, auto& field) {
        field("learning_rate", config.learning_rate, "step size", more_than(0));
        field("betas", config.betas, "decay of both moments", at_least(0).less_than(1));
    }
    bool operator==(const AdamConfig&) const = default;
};

struct DenseConfig {
    static constexpr const char* kind = "dense";
    static void describe(auto&, auto&) {}
    bool operator==(const DenseConfig&) const = default;
};

struct RalimpConfig {
    static constexpr const char* kind = "ralimp";
    int terms = 8;
    static void describe(auto& config, auto& field) {
        field("terms", config.terms, "terms of the rational fit", at_least(1));
    }
    bool operator==(const RalimpConfig&) const = default;
};

struct LossConfig {
    std::string name;
    double weight = 1;
    std::optional<double> limit;
    static void describe(auto& config, auto& field) {
        field("name", config.name, "which term", required().non_empty());
        field("weight", config.weight, "factor of the term", at_least(0));
        field("limit", config.limit, "clip above; null: no clipping", more_than(0));
    }
    bool operator==(const LossConfig&) const = default;
};

struct NetworkConfig {
    std::vector<int64_t> layers{2, 20, 1};
    Activation activation = Activation::tanh;
    std::variant<DenseConfig, RalimpConfig> hidden;
    std::vector<Activation> extra;
    static void describe(auto& config, auto& field) {
        field("layers", config.layers, "width of each layer", at_least(1).items(2));
        field("activation", config.activation, "after each hidden layer");
        field("hidden", config.hidden, "what a hidden layer is");
        field("extra", config.extra, "further activations");
    }
    bool operator==(const NetworkConfig&) const = default;
};

struct RunConfig {
    int64_t seed = 0;
    uint64_t stream = 0;
    bool deterministic = true;
    double low = -1;
    double high = 1;
    double tolerance = 1e-9;
    double limit = std::numeric_limits<double>::infinity();
    float scale = 0.1f;
    std::string name = "run";
    std::filesystem::path image;
    std::optional<double> clip;
    std::optional<AdamConfig> second;
    NetworkConfig network;
    std::variant<SgdConfig, AdamConfig> optimizer = AdamConfig{};
    std::vector<LossConfig> losses;
    std::vector<std::vector<double>> table;
    static void describe(auto& config, auto& field) {
        field("seed", config.seed, "seed of every random stream");
        field("stream", config.stream, "which stream");
        field("deterministic", config.deterministic, "same bits on every run");
        field("low", config.low, "left end");
        field("high", config.high, "right end");
        field("tolerance", config.tolerance, "where to stop", between(0, 1));
        field("limit", config.limit, "no bound by default", at_least(0).not_finite_allowed());
        field("scale", config.scale, "in single precision");
        field("name", config.name, "name of the run", non_empty());
        field("image", config.image, "picture to fit");
        field("clip", config.clip, "largest gradient norm; null: no clipping", more_than(0));
        field("second", config.second, "optimizer of the second phase; null: none");
        field("network", config.network, "the model");
        field("optimizer", config.optimizer, "how parameters move");
        field("losses", config.losses, "terms of the loss");
        field("table", config.table, "a matrix");
        field.check("high", config.low < config.high, "must be more than low");
    }
    bool operator==(const RunConfig&) const = default;
};

inline RunConfig read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_config_text<RunConfig>(text, "run.yaml", overrides);
}

// The message of the error; fails the test when there is none or its exit code is not 2.
template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_config);
        return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
}

inline std::string error_of_text(const std::string& text,
                                 const std::vector<std::string>& overrides = {}) {
    return error_of([&] { read(text, overrides); });
}

}  // namespace ralimp::config_example
