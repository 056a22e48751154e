#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "trainers/comparison_outcome.h"
#include "trainers/comparison_plan.h"
#include "trainers/config.h"

namespace ralimp {
namespace {

using Count = std::optional<int64_t>;

TEST(SolveForSize, TheLargestThatFits) {
    const auto grows = [](int64_t width) -> Count { return width * width + width; };
    for (int64_t most = 2; most < 400; ++most) {
        const auto found = solve_for_size(most, grows);
        ASSERT_TRUE(found) << most;
        EXPECT_LE(*grows(*found), most);
        EXPECT_GT(*grows(*found + 1), most);
    }
    EXPECT_FALSE(solve_for_size(1, grows));
}

TEST(SolveForSize, ValuesThatCannotBe) {
    // Pairs alone, and none beyond 20.
    const auto even = [](int64_t value) -> Count {
        if (value % 2 == 1 || value > 20) return std::nullopt;
        return 10 * value;
    };
    EXPECT_EQ(solve_for_size(20, even), 2);
    EXPECT_EQ(solve_for_size(75, even), 6);
    EXPECT_EQ(solve_for_size(1000000, even), 20);
    EXPECT_FALSE(solve_for_size(19, even));
    EXPECT_FALSE(solve_for_size(1000, [](int64_t) -> Count { return std::nullopt; }));
}

TEST(SolveForSize, SizesThatFall) {
    const auto falls = [](int64_t blocks) -> Count {
        if (blocks > 64) return std::nullopt;
        return 2 * 64 * 64 / blocks + 64;
    };
    for (int64_t most = 2 * 64 + 64; most < 9000; most += 37) {
        const auto found = solve_for_size(most, falls);
        ASSERT_TRUE(found) << most;
        EXPECT_LE(*falls(*found), most);
        if (*found > 1) {
            EXPECT_GT(*falls(*found - 1), most);
        }
    }
    EXPECT_FALSE(solve_for_size(2 * 64 + 63, falls));
}

TEST(MedianOf, FailedRunsAreWorst) {
    EXPECT_EQ(median_of({3, 1, 2}, false), 2);
    EXPECT_EQ(median_of({3, 1, 2, 10}, false), 2.5);
    EXPECT_EQ(median_of({NAN, 1, 2}, false), 2);
    EXPECT_EQ(median_of({NAN, 1, 2}, true), 1);
    EXPECT_TRUE(std::isnan(median_of({NAN, NAN, 2}, false)));
}

// A comparison of small pictures that the program draws.
ComparisonConfig config_of(const std::string& entries) {
    static const TemporaryFolder folder;
    const auto run =
        folder.write("run.yaml", "kind: siren\ndata: {size: [8, 8]}\nnetwork: {width: 16}\n");
    return read_config_text<ComparisonConfig>(
        fmt::format("run: {}\nshare: 0.6\nseeds: [7]\nentries:\n  - {{name: dense}}\n{}",
                    run.string(), entries));
}

TEST(PlanComparison, SizesAreMatched) {
    const ComparisonPlan plan = plan_comparison(config_of(R"(
  - {name: narrow, changes: ["network.hidden={kind: narrow}"]}
  - {name: low rank, changes: ["network.hidden={kind: low_rank}"], share: 0.5}
  - {name: snnk, changes: ["network.hidden={kind: snnk}"], trials: [{changes: [network.hidden.start_rms=1]}, {changes: [network.hidden.start_rms=2]}]}
  - {name: three layers, changes: [network.width=5], solve: network.hidden_layers}
  - {name: as it is, changes: [network.width=5]}
)"));
    // 2 -> 16, three layers 16 -> 16, 16 -> 3.
    const int64_t dense = 48 + 3 * (256 + 16) + 51;
    ASSERT_EQ(plan.settings.size(), 7u);
    EXPECT_EQ(plan.settings[0].deployed, dense);
    const auto most = static_cast<int64_t>(0.6 * static_cast<double>(dense));
    EXPECT_EQ(plan.settings[1].solved, "network.hidden.width = 12");
    EXPECT_EQ(plan.settings[1].deployed, 36 + 3 * 156 + 39);
    EXPECT_LE(plan.settings[1].deployed, most);
    EXPECT_GT(39 + 3 * 182 + 42, most);  // of width 13
    EXPECT_EQ(plan.settings[2].solved, "network.hidden.rank = 3");
    EXPECT_EQ(plan.settings[2].deployed, 48 + 3 * (2 * 3 * 16 + 16) + 51);
    EXPECT_EQ(plan.settings[2].most_deployed, dense / 2);
    EXPECT_EQ(plan.settings[3].trial, (std::vector<std::string>{"network.hidden.start_rms=1"}));
    EXPECT_EQ(plan.settings[3].deployed, plan.settings[4].deployed);
    EXPECT_EQ(plan.settings_of(0, 3).size(), 2u);
    EXPECT_EQ(plan.settings[5].solved, "network.hidden_layers = 18");
    EXPECT_EQ(plan.settings[6].solved, "");
    EXPECT_EQ(plan.settings[6].deployed, 15 + 3 * 30 + 18);
    EXPECT_EQ(plan.metrics[0], "psnr");
    EXPECT_TRUE(plan.larger_is_better);
    for (const ComparisonSetting& setting : plan.settings)
        EXPECT_EQ(settings_of(setting.config).seed, 7);
}

TEST(PlanComparison, CasesChangeAllEntries) {
    ComparisonConfig config =
        config_of("  - {name: narrow, changes: ['network.hidden={kind: narrow}']}\n");
    config.cases = {{"small", {"network.width=8"}}, {"large", {"network.width=32"}}};
    const ComparisonPlan plan = plan_comparison(config);
    ASSERT_EQ(plan.settings.size(), 4u);
    EXPECT_EQ(plan.settings[0].deployed, 24 + 3 * 72 + 27);
    EXPECT_EQ(plan.settings[2].deployed, 96 + 3 * 1056 + 99);
    EXPECT_EQ(plan.settings[3].solved, "network.hidden.width = 24");
}

TEST(PlanComparison, ErrorsNameTheEntry) {
    const auto message = [](const std::string& entries) {
        const Thrown thrown = error_of([&] { plan_comparison(config_of(entries)); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config) << thrown.text;
        return thrown.text;
    };
    EXPECT_EQ(
        message("  - {name: ralimp, changes: ['network.hidden={kind: ralimp}'], share: 0.05}\n"),
        "ralimp: no network.hidden.features gives a network of at most 45 numbers, 0.05 of "
        "the reference's 915");
    EXPECT_NE(
        message("  - {name: x, changes: [network.widht=3]}\n").find("unknown key network.widht"),
        std::string::npos);
    EXPECT_NE(message("  - {name: x, changes: [], solve: network.size}\n")
                  .find("unknown key network.size"),
              std::string::npos);
    EXPECT_EQ(message("  - {name: dense}\n"), "entries: the name dense is there twice");
    EXPECT_NE(message("  - {name: ../x}\n").find("entries: the name ../x must be of letters"),
              std::string::npos);
    EXPECT_NE(message("  - {name: .x}\n").find("must be of letters"), std::string::npos);
}

}  // namespace
}  // namespace ralimp
