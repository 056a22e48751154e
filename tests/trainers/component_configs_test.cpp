// The configs that layers and optimizers own, read and written as a whole.
#include <gtest/gtest.h>

#include "layers/network.h"
#include "optim/clipping.h"
#include "optim/make_optimizer.h"
#include "optim/schedule.h"
#include "trainers/config.h"

namespace ralimp {
namespace {

struct ComponentConfig {
    NetworkConfig network;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    ClippingConfig clipping;
    static void describe(auto& config, auto& field) {
        field("network", config.network, "the model");
        field("optimizer", config.optimizer, "how parameters move");
        field("schedule", config.schedule, "how the learning rate changes");
        field("clipping", config.clipping, "limits of the gradient");
    }
};

void expect_round_trip(const ComponentConfig& config) {
    const std::string text = write_config(config, ConfigComments::help);
    EXPECT_EQ(write_config(read_config_text<ComponentConfig>(text), ConfigComments::help), text);
}

// Calls f once for each alternative, at its default values.
template <class Variant, class F>
void for_each_kind(F&& f) {
    const auto kinds = VariantTraits<Variant>::kinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        Variant variant;
        VariantTraits<Variant>::emplace(variant, i);
        f(variant, kinds[i]);
    }
}

TEST(ComponentConfigs, DefaultsOfEveryKindAreValidAndRoundTrip) {
    ComponentConfig config;
    expect_round_trip(config);
    for_each_kind<OptimizerConfig>([&](const OptimizerConfig& optimizer, const std::string& kind) {
        config.optimizer = optimizer;
        expect_round_trip(config);
        const auto read = read_config_text<ComponentConfig>(
            fmt::format("optimizer: {{kind: {}, learning_rate: 1e-4}}", kind));
        EXPECT_EQ(learning_rate_of(read.optimizer), 1e-4) << kind;
        EXPECT_EQ(read.optimizer.index(), optimizer.index());
    });
    for_each_kind<ScheduleConfig>([&](const ScheduleConfig& schedule, const std::string&) {
        config.schedule = schedule;
        expect_round_trip(config);
    });
    for_each_kind<HiddenConfig>([&](const HiddenConfig& hidden, const std::string&) {
        config.network.hidden = hidden;
        expect_round_trip(config);
    });
}

TEST(ComponentConfigs, EveryKeyHasHelp) {
    for (const ConfigKey& key : list_config_keys<ComponentConfig>())
        EXPECT_FALSE(key.help.empty()) << key.path;
}

// unsloth PR#10452: an unknown key at any depth was ignored.
TEST(ComponentConfigs, AnUnknownKeyBesideAnyKeyIsAnError) {
    for (const ConfigKey& key : list_config_keys<ComponentConfig>()) {
        std::vector<std::string> overrides;
        if (!key.kind.empty()) overrides.push_back(key.kind);
        overrides.push_back(key.path + "_x=1");
        try {
            read_config_text<ComponentConfig>("{}", "run.yaml", overrides);
            ADD_FAILURE() << key.path << "_x was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::bad_config);
            EXPECT_NE(std::string(error.what()).find("unknown key " + key.path + "_x"),
                      std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace ralimp
