// The configs that layers and optimizers own, read and written as a whole.
#include <gtest/gtest.h>

#include <set>

#include "layers/network.h"
#include "optim/clipping.h"
#include "optim/make_optimizer.h"
#include "optim/schedule.h"
#include "trainers/config.h"
#include "trainers/config_types.h"
#include "trainers/layer_task.h"
#include "trainers/pinn.h"
#include "trainers/sdf.h"
#include "trainers/siren.h"
#include "trainers/training_config.h"

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

// The number of members of an aggregate: as many initializers as it takes.
struct Anything {
    template <class T>
    operator T() const;
};
template <class T, class... Initializers>
constexpr std::size_t members() {
    if constexpr (requires { T{Initializers{}..., Anything{}}; })
        return members<T, Initializers..., Anything>();
    else
        return sizeof...(Initializers);
}

// Stands in for a reader: which members have a key.
struct Described {
    std::set<const void*> places;
    std::set<std::string> keys;
    void operator()(const char* key, auto& member, auto&&...) {
        places.insert(&member);
        keys.insert(key);
    }
    void check(auto&&...) {}
};

template <class Config>
void expect_every_member_has_a_key(const char* name) {
    Config config;
    Described described;
    Config::describe(config, described);
    EXPECT_EQ(described.places.size(), members<Config>()) << name;
    EXPECT_EQ(described.keys.size(), members<Config>()) << name;
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

// deepxde#364: options of L-BFGS could not be reached.
TEST(ComponentConfigs, EveryMemberHasAKeyOfItsOwn) {
    const auto check_alternatives = [](auto variant) {
        for (std::size_t i = 0; i < VariantTraits<decltype(variant)>::kinds().size(); ++i) {
            VariantTraits<decltype(variant)>::emplace(variant, i);
            std::visit(
                [](const auto& one) {
                    using Config = std::decay_t<decltype(one)>;
                    expect_every_member_has_a_key<Config>(Config::kind);
                },
                variant);
        }
    };
    check_alternatives(OptimizerConfig());
    check_alternatives(ScheduleConfig());
    check_alternatives(HiddenConfig());
    expect_every_member_has_a_key<ClippingConfig>("clipping");
    expect_every_member_has_a_key<NetworkConfig>("network");
    expect_every_member_has_a_key<PhaseConfig>("phase");
    expect_every_member_has_a_key<TrainingConfig>("training");
    expect_every_member_has_a_key<RunSettings>("run");
    expect_every_member_has_a_key<PointsConfig>("points");
    expect_every_member_has_a_key<AdaptivePointsConfig>("points.adaptive");
    expect_every_member_has_a_key<PinnLossConfig>("loss of a PINN");
    expect_every_member_has_a_key<SirenLossConfig>("loss of a SIREN");
    expect_every_member_has_a_key<SdfLossConfig>("loss of an SDF");
    expect_every_member_has_a_key<LayerDataConfig>("data of a layer");
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
