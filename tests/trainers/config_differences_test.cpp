#include "trainers/config_differences.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trainers/config.h"
#include "trainers/run_config.h"

namespace ralimp {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::vector<ConfigDifference>& differences) {
    Lines lines;
    for (const ConfigDifference& one : differences) lines.push_back(to_string(one));
    return lines;
}

// Of two configs as a run folder holds them.
Lines differences(const std::string& before, const std::string& now) {
    return lines_of(config_differences(write_config(read_config_text<RunConfig>(before)),
                                       write_config(read_config_text<RunConfig>(now))));
}

TEST(ConfigDifferences, NameTheWholeKeyAndBothValues) {
    EXPECT_EQ(differences("kind: pinn\n", "kind: pinn\n"), Lines{});
    EXPECT_EQ(differences("kind: pinn\nseed: 3\n", "kind: pinn\nseed: 4\n"),
              Lines{"seed = 4, was 3"});
    // Equal lines elsewhere hide nothing: omega and first_omega are both 1, and steps stands twice.
    EXPECT_EQ(differences("kind: pinn\nnetwork: {omega: 2, first_omega: 1}\n"
                          "training: {phases: [{steps: 5}, {steps: 6}]}\n",
                          "kind: pinn\nnetwork: {omega: 1, first_omega: 2}\n"
                          "training: {phases: [{steps: 6}, {steps: 5}]}\n"),
              (Lines{"training.phases[0].steps = 6, was 5", "training.phases[1].steps = 5, was 6",
                     "network.omega = 1, was 2", "network.first_omega = 2, was 1"}));
}

TEST(ConfigDifferences, TakeListsOfValuesAsOneValue) {
    EXPECT_EQ(differences("kind: pinn\nevaluation: {grid: [9, 8]}\n",
                          "kind: pinn\nevaluation: {grid: [9, 7]}\n"),
              Lines{"evaluation.grid = [9, 7], was [9, 8]"});
    EXPECT_EQ(differences("kind: siren\n", "kind: siren\ndata: {size: [9, 7]}\n"),
              Lines{"data.size = [9, 7], was null"});
    EXPECT_EQ(
        lines_of(config_differences("a: []\nb: 1\nc: \"x\"\n", "a: {}\nb: \"1\"\nc: \"x\\ny\"\n")),
        (Lines{"a = {}, was []", "b = \"1\", was 1", "c = \"x\\ny\", was \"x\""}));
}

TEST(ConfigDifferences, NameKeysOfOneSideOnly) {
    const std::string cosine =
        "kind: pinn\ntraining: {phases: [{steps: 5, schedule: {kind: cosine}}]}\n";
    const std::string constant = "kind: pinn\ntraining: {phases: [{steps: 5}]}\n";
    EXPECT_EQ(differences(constant, cosine),
              (Lines{"training.phases[0].schedule.kind = cosine, was constant",
                     "training.phases[0].schedule.steps = null, was absent",
                     "training.phases[0].schedule.final_factor = 0, was absent"}));
    EXPECT_EQ(differences(cosine, constant),
              (Lines{"training.phases[0].schedule.kind = constant, was cosine",
                     "training.phases[0].schedule.steps is absent, was null",
                     "training.phases[0].schedule.final_factor is absent, was 0"}));
}

// Whichever key changes, the line is about it: every number of the tasks' configs.
TEST(ConfigDifferences, FindEveryKey) {
    for (const std::string task : {"kind: pinn\n", "kind: siren\n"}) {
        const auto config = read_config_text<RunConfig>(task);
        const std::string text = write_config(config);
        std::size_t changed = 0;
        for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
            const std::size_t colon = text.find(": ", begin), end = text.find('\n', begin);
            if (colon > end) continue;  // a map
            const std::string key = text.substr(begin, colon - begin);
            std::string other = text;
            other.replace(colon + 2, end - colon - 2, "other");
            const Lines lines = lines_of(config_differences(text, other));
            ASSERT_EQ(lines.size(), 1u) << text.substr(begin, end - begin);
            EXPECT_EQ(lines[0].find(" = other, was " + text.substr(colon + 2, end - colon - 2)),
                      lines[0].find(' '))
                << lines[0];
            const std::string name = key.substr(key.find_first_not_of(" -"));
            const std::string path = lines[0].substr(0, lines[0].find(' '));
            EXPECT_TRUE(path == name || path.ends_with("." + name)) << path << " for " << name;
            ++changed;
        }
        EXPECT_GT(changed, 25u);
    }
}

// A key of a task that is not named here needs a decision.
TEST(ConfigDifferences, SayOfEveryKeyWhetherItConcernsTheLoss) {
    const std::map<std::string, bool> expected{
        {"kind", true},    {"seed", true},     {"precision", true},   {"problem", true},
        {"network", true}, {"points", true},   {"constraints", true}, {"loss", true},
        {"data", true},    {"threads", false}, {"training", false},   {"evaluation", false}};
    std::set<std::string> seen;
    for (const ConfigKey& key : list_config_keys<RunConfig>()) {
        const std::string top(top_key(key.path));
        ASSERT_TRUE(expected.contains(top)) << key.path;
        EXPECT_EQ(concerns_loss(key.path), expected.at(top)) << key.path;
        seen.insert(top);
    }
    EXPECT_EQ(seen.size(), expected.size());
    EXPECT_FALSE(concerns_loss("training.phases[0].steps"));
    EXPECT_FALSE(concerns_loss("training"));
    for (const char* other :
         {"training_data.size", "threads_of", "trainings", "evaluations[0].grid"})
        EXPECT_TRUE(concerns_loss(other)) << other;
}

}  // namespace
}  // namespace ralimp
