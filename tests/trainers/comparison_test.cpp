#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "data/image.h"
#include "layers/folding.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "trainers/comparison_folder.h"
#include "trainers/comparison_outcome.h"
#include "trainers/comparison_plan.h"
#include "trainers/config.h"
#include "trainers/data_files.h"
#include "trainers/subprocess.h"

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

ComparisonPlan plan_of(const ComparisonConfig& config) {
    Log log({-1, false, 80});
    return plan_comparison(config, log);
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
    const ComparisonPlan plan = plan_of(config_of(R"(
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
    const ComparisonPlan plan = plan_of(config);
    ASSERT_EQ(plan.settings.size(), 4u);
    EXPECT_EQ(plan.settings[0].deployed, 24 + 3 * 72 + 27);
    EXPECT_EQ(plan.settings[2].deployed, 96 + 3 * 1056 + 99);
    EXPECT_EQ(plan.settings[3].solved, "network.hidden.width = 24");
}

const char* const every_kind = R"(
  - {name: narrow, changes: ["network.hidden={kind: narrow}"], share: 5}
  - {name: low rank, changes: ["network.hidden={kind: low_rank}"], share: 5}
  - {name: snnk, changes: ["network.hidden={kind: snnk}"], share: 5}
  - {name: eugen, changes: ["network.hidden={kind: eugen, degree: 1}"], share: 5}
  - {name: monarch, changes: ["network.hidden={kind: monarch}"], share: 5}
  - {name: train, changes: ["network.hidden={kind: tensor_train}"], share: 5}
  - {name: ralimp, changes: ["network.hidden={kind: ralimp, degree: 1}"], share: 5}
  - {name: drawn, changes: ["network.hidden={kind: ralimp, nodes: monte_carlo, orthogonal: false}"], share: 5}
)";

// Counted without a task of its own, and without what a network starts with: as a run would have
// it.
TEST(PlanComparison, NumbersAreThoseOfTheRun) {
    const TemporaryFolder folder;
    for (const char* run :
         {"kind: siren\ndata: {size: [8, 8]}\nnetwork: {width: 16}\n",
          "kind: pinn\nproblem: {kind: allen_cahn}\nconstraints: {periodic: [x], harmonics: 3}\n"
          "network: {width: 16, hidden_layers: 3}\npoints: {residual: 50}\n",
          "kind: layer\nnetwork: {width: 16}\ndata: {train: 20, test: 20}\n"}) {
        ComparisonConfig config = config_of(every_kind);
        config.run = folder.write("run.yaml", run);
        if (std::string(run).starts_with("kind: layer"))
            config.entries.erase(config.entries.begin() + 1);
        const ComparisonPlan plan = plan_of(config);
        for (const ComparisonSetting& setting : plan.settings)
            EXPECT_EQ(setting.deployed, deployed_numbers(make_task(setting.config)->model()))
                << run << config.entries[setting.entry_index].name;
    }
}

// How often a file is opened while f runs.
int64_t times_opened(const std::string& file, const std::function<void()>& f) {
    const int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    EXPECT_GE(inotify_add_watch(events, file.c_str(), IN_OPEN | IN_CLOSE), 0);
    f();
    int64_t opened = 0;
    alignas(inotify_event) char buffer[1 << 14];
    for (ssize_t got; (got = read(events, buffer, sizeof buffer)) > 0;)
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
            opened += (event->mask & IN_OPEN) != 0;
            at += static_cast<ssize_t>(sizeof *event) + event->len;
        }
    close(events);
    return opened;
}

std::string write_picture(const TemporaryFolder& folder, const std::string& name, double grey) {
    const std::string file = folder / name;
    write_png(file, {Tensor::full({6, 5, 1}, grey, DType::float32)});
    return file;
}

// An image is read for the sizes of all entries and for the figures, and hashed for each setting.
TEST(PlanComparison, ReadsDataOnce) {
    const TemporaryFolder folder;
    const std::string image = write_picture(folder, "image.png", 0.3);
    ComparisonConfig config = config_of(every_kind);
    config.changes = {"data.size=null", "data.image=" + image};
    ComparisonPlan plan;
    const int64_t opened = times_opened(image, [&] { plan = plan_of(config); });
    EXPECT_EQ(plan.settings.size(), 9u);
    EXPECT_GT(opened, 9);
    EXPECT_LE(opened, 9 + 2 * 2);  // the format is looked up before it is read
}

TEST(PlanComparison, DataThatAreMissingFailTheirEntryAlone) {
    const TemporaryFolder folder;
    const std::string image = write_picture(folder, "image.png", 0.3);
    ComparisonConfig config = config_of(
        "  - {name: missing, changes: [data.size=null, data.image=/nowhere/x.png]}\n"
        "  - {name: narrow, changes: ['network.hidden={kind: narrow}']}\n");
    const ComparisonPlan plan = plan_of(config);
    ASSERT_EQ(plan.settings.size(), 3u);
    ASSERT_TRUE(plan.settings[1].failure);
    EXPECT_EQ(plan.settings[1].failure->code, ExitCode::bad_input);
    EXPECT_EQ(plan.settings[1].failure->reason,
              "/nowhere/x.png: cannot be read: No such file or directory");
    EXPECT_FALSE(plan.settings[2].failure);
    EXPECT_EQ(plan.settings[2].solved, "network.hidden.width = 12");
    const ComparisonRun run = comparison_run(plan, config, plan.settings[1], 7, folder / "runs");
    EXPECT_EQ(run.failure->reason, plan.settings[1].failure->reason);
    EXPECT_TRUE(std::isnan(run.figure("psnr")));

    // Of the reference of one case: the others have nothing to be measured by, there.
    config = config_of("  - {name: narrow, changes: ['network.hidden={kind: narrow}']}\n");
    config.cases = {{"gone", {"data.size=null", "data.image=/nowhere/x.png"}},
                    {"here", {"data.size=null", "data.image=" + image}}};
    config.entries[1].changes.push_back("data.image=" + image);
    const ComparisonPlan cases = plan_of(config);
    EXPECT_EQ(cases.settings[1].failure->reason,
              "has nothing to be measured by: gone, dense: /nowhere/x.png: cannot be read: No such "
              "file or directory");
    EXPECT_FALSE(cases.settings[2].failure || cases.settings[3].failure);
    // Of all.
    config.cases.pop_back();
    const Thrown thrown = error_of([&] { plan_of(config); });
    EXPECT_EQ(thrown.code, ExitCode::bad_input);
    EXPECT_EQ(thrown.text,
              "gone, dense: /nowhere/x.png: cannot be read: No such file or directory");
}

// A run is another one when what it reads is, whatever its time and its name.
TEST(ComparisonRun, FollowsFromConfigSeedAndData) {
    const TemporaryFolder folder;
    write_picture(folder, "image.png", 0.3);
    ComparisonConfig config = config_of("");
    config.changes = {"data.size=null", "data.image=" + (folder / "image.png")};
    const auto folder_of = [&](int64_t seed) {
        const ComparisonPlan plan = plan_of(config);
        return comparison_run(plan, config, plan.settings[0], seed, "runs").folder.string();
    };
    const std::string first = folder_of(7);
    EXPECT_EQ(folder_of(7), first);
    EXPECT_NE(folder_of(8), first);
    write_picture(folder, "image.png", 0.7);
    const std::string other = folder_of(7);
    EXPECT_NE(other, first);
    write_picture(folder, "image.png", 0.3);
    EXPECT_EQ(folder_of(7), first);
}

TEST(DataFiles, AreAllPathsOfTheConfig) {
    const auto files = [](const std::string& text) {
        return data_files(read_config_text<RunConfig>(text, "config", {}, "/data"));
    };
    using Paths = std::vector<std::filesystem::path>;
    EXPECT_EQ(files("kind: siren\n"), Paths{});
    EXPECT_EQ(files("kind: siren\ndata: {image: a.png}\n"), Paths{"/data/a.png"});
    EXPECT_EQ(files("kind: siren\ndata: {kind: audio, sound: a.wav}\n"), Paths{"/data/a.wav"});
    EXPECT_EQ(files("kind: sdf\ndata: {mesh: a.obj}\n"), Paths{"/data/a.obj"});
    EXPECT_EQ(files("kind: pinn\nproblem: {kind: custom, geometry: {kind: interval}, equations: "
                    "[u_xx], reference: b.h5, conditions: [{kind: points, name: known, file: "
                    "a.csv}]}\n"),
              (Paths{"/data/a.csv", "/data/b.h5"}));
}

TEST(DataFiles, TheHashIsThatOfTheirContents) {
    const TemporaryFolder folder;
    const std::filesystem::path a = folder.write("a", "one"), b = folder.write("b", "two"),
                                c = folder.write("c", "one");
    EXPECT_EQ(hash_of_files({}), 0u);
    EXPECT_NE(hash_of_files({a}), 0u);
    EXPECT_EQ(hash_of_files({a}), hash_of_files({c}));
    EXPECT_NE(hash_of_files({a}), hash_of_files({b}));
    EXPECT_NE(hash_of_files({a, b}), hash_of_files({b, a}));
    EXPECT_NE(hash_of_files({a}), hash_of_files({a, folder.write("empty", "")}));
    EXPECT_EQ(error_of([&] { hash_of_files({a, folder / "none"}); }).code, ExitCode::bad_input);
}

TEST(ComparisonFolder, IsOfOneComparisonAndOneProcess) {
    const TemporaryFolder folder;
    const std::string config = folder.write("one.yaml", ""), other = folder.write("two.yaml", "");
    const std::filesystem::path path = folder / "comparison";
    const auto refused = [&](const std::string& by) {
        return error_of([&] { ComparisonFolder(path, by); });
    };
    {
        const ComparisonFolder place(path, config);
        EXPECT_FALSE(ComparisonFolder::holds_comparison(path));
        place.write_unfinished();
        EXPECT_TRUE(ComparisonFolder::holds_comparison(path));
        const Thrown thrown = refused(config);
        EXPECT_EQ(thrown.code, ExitCode::io);
        EXPECT_NE(thrown.text.find(": another comparison is under way there; "), std::string::npos);
        place.write_finished("psnr", 12, 1);
    }
    EXPECT_EQ(*find_value(ComparisonFolder::state_of(path), "failed"), ResultValue(int64_t{1}));
    const Thrown thrown = refused(other);
    EXPECT_EQ(thrown.code, ExitCode::bad_config);
    EXPECT_EQ(thrown.text,
              fmt::format("{}: holds the comparison of {}, not that of {}; choose another folder "
                          "with --output",
                          path.string(), config, other));
    EXPECT_EQ(refused(config).text, "");
    // Moved with its config.
    std::filesystem::create_directory(folder / "moved");
    std::filesystem::rename(config, folder / "moved/one.yaml");
    EXPECT_EQ(refused(folder / "moved/one.yaml").text, "");
    EXPECT_NE(refused(other).text, "");
}

TEST(Subprocess, ItsMessagesAreKept) {
    Subprocess process({.words = {"sh", "-c", "echo first >&2; echo >&2; echo last >&2; exit 3"}});
    while (!process.wait_status()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(WEXITSTATUS(*process.wait_status()), 3);
    EXPECT_EQ(process.messages(), "first\n\nlast\n");
    EXPECT_EQ(first_words(process.messages()), "first last");
    EXPECT_EQ(last_line(process.messages()), "last");
    EXPECT_EQ(first_words(""), "it said nothing");
    EXPECT_EQ(last_line(""), "");
}

TEST(PlanComparison, ErrorsNameTheEntry) {
    const auto message = [](const std::string& entries) {
        const Thrown thrown = error_of([&] { plan_of(config_of(entries)); });
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
