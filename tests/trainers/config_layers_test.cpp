// Configs made of several parts: base files, environment variables, overrides, relative paths.
#include "trainers/config_layers.h"

#include <cstdlib>

#include "tests/trainers/config_example.h"

namespace ralimp::config_example {
namespace {

namespace fs = std::filesystem;

class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Environment() { unsetenv(name_); }

private:
    const char* name_;
};

// Runs the test from another working directory.
class WorkingDirectory {
public:
    explicit WorkingDirectory(const fs::path& path) : before_(fs::current_path()) {
        fs::current_path(path);
    }
    ~WorkingDirectory() { fs::current_path(before_); }

private:
    fs::path before_;
};

TEST(ConfigBase, MergesMapsAndReplacesLists) {
    const TemporaryFolder folder;
    folder.write("base/common.yaml", "seed: 1\nlow: -5\n");
    folder.write(
        "base/burgers.yaml",
        "base: common.yaml\nseed: 2\nname: base\nnetwork: {layers: [3, 4], activation: sine}\n"
        "losses: [{name: a, weight: 3}, {name: b}]\nclip: 4\n");
    const auto file =
        folder.write("runs/mine.yaml",
                     "base: ../base/burgers.yaml\nname: mine\n"
                     "network: {layers: [5, 6, 7]}\nlosses: [{name: c}]\nclip: null\n");
    const RunConfig config = read_config<RunConfig>(file);
    EXPECT_EQ(config.seed, 2);
    EXPECT_EQ(config.low, -5);
    EXPECT_EQ(config.name, "mine");
    EXPECT_EQ(config.network.layers, (std::vector<int64_t>{5, 6, 7}));
    EXPECT_EQ(config.network.activation, Activation::sine);
    EXPECT_EQ(config.losses, (std::vector<LossConfig>{{"c", 1, {}}}));
    EXPECT_FALSE(config.clip);
}

TEST(ConfigBase, ChangedKindDropsTheOtherKeys) {
    const TemporaryFolder folder;
    folder.write("base.yaml", "optimizer: {kind: sgd, learning_rate: 7, momentum: 0.5}\n");
    const auto other = folder.write("other.yaml", "base: base.yaml\noptimizer: {kind: adam}\n");
    EXPECT_EQ(std::get<AdamConfig>(read_config<RunConfig>(other).optimizer), AdamConfig{});
    const auto same =
        folder.write("same.yaml", "base: base.yaml\noptimizer: {kind: sgd, learning_rate: 8}\n");
    EXPECT_EQ(std::get<SgdConfig>(read_config<RunConfig>(same).optimizer), (SgdConfig{8, 0.5}));
    const auto without =
        folder.write("without.yaml", "base: base.yaml\noptimizer: {learning_rate: 9}\n");
    EXPECT_EQ(std::get<SgdConfig>(read_config<RunConfig>(without).optimizer), (SgdConfig{9, 0.5}));
    const auto stale =
        folder.write("stale.yaml", "base: base.yaml\noptimizer: {kind: adam, momentum: 0.5}\n");
    EXPECT_EQ(error_of([&] { read_config<RunConfig>(stale); }),
              stale.string() +
                  ":2:25: unknown key optimizer.momentum; it belongs to "
                  "optimizer.kind=sgd");
}

TEST(ConfigBase, ErrorsNameTheFileWhereTheKeyStands) {
    const TemporaryFolder folder;
    const auto base = folder.write("base.yaml", "seed: 1\nsede: 2\n");
    const auto file = folder.write("run.yaml", "base: base.yaml\nname: x\n");
    EXPECT_EQ(error_of([&] { read_config<RunConfig>(file); }),
              base.string() + ":2:1: unknown key sede; did you mean seed?");
    // A condition between a key of the base and one of the file blames the key it is about.
    folder.write("base.yaml", "high: 2\n");
    folder.write("run.yaml", "base: base.yaml\nlow: 3\n");
    EXPECT_EQ(error_of([&] { read_config<RunConfig>(file); }),
              base.string() + ":1:7: high: must be more than low");
}

TEST(ConfigBase, RefusesWhatCannotBeFollowed) {
    const TemporaryFolder folder;
    const auto a = folder.write("a.yaml", "base: b.yaml\n");
    const auto b = folder.write("b.yaml", "seed: 1\nbase: ./sub/../a.yaml\n");
    fs::create_directory(folder.path() / "sub");
    EXPECT_EQ(error_of([&] { read_config<RunConfig>(a); }),
              fmt::format("{}:2:7: base: {}: a cycle: {} -> {} -> {}", b.string(), a.string(),
                          a.string(), b.string(), a.string()));
    const auto self = folder.write("self.yaml", "base: self.yaml\n");
    EXPECT_NE(error_of([&] { read_config<RunConfig>(self); }).find("a cycle"), std::string::npos);
    const auto missing = folder.write("missing.yaml", "base: nowhere.yaml\n");
    EXPECT_EQ(error_of([&] { read_config<RunConfig>(missing); }),
              fmt::format("{}:1:7: base: {}: cannot be read: No such file or directory",
                          missing.string(), (folder.path() / "nowhere.yaml").string()));
    for (const char* value : {"", "[a.yaml]", "{a: b}", "''"}) {
        const auto wrong = folder.write("wrong.yaml", fmt::format("base: {}\n", value));
        EXPECT_NE(error_of([&] {
                      read_config<RunConfig>(wrong);
                  }).find("base must be the path of one config file"),
                  std::string::npos)
            << value;
    }
    const auto nested = folder.write("nested.yaml", "network: {base: a.yaml}\n");
    EXPECT_NE(error_of([&] { read_config<RunConfig>(nested); }).find("unknown key network.base"),
              std::string::npos);
    EXPECT_EQ(error_of([&] { read_config<RunConfig>(folder.path()); }),
              folder.path().string() + ": is a folder, not a file");
    EXPECT_EQ(
        error_of([&] { read_config<RunConfig>(folder.path() / "none.yaml"); }),
        (folder.path() / "none.yaml").string() + ": cannot be read: No such file or directory");
}

TEST(ConfigEnvironment, ReplacesVariablesInTexts) {
    const Environment variable("RALIMP_TEST_FOLDER", "/some/where");
    EXPECT_EQ(read("name: ${RALIMP_TEST_FOLDER}/a-${RALIMP_TEST_FOLDER}").name,
              "/some/where/a-/some/where");
    EXPECT_EQ(read("image: ${RALIMP_TEST_FOLDER}/images/camera.png").image,
              "/some/where/images/camera.png");
    EXPECT_EQ(read("{name: \"${RALIMP_TEST_FOLDER}\"}").name, "/some/where");
    EXPECT_EQ(read("name: $${RALIMP_TEST_FOLDER} costs $5").name, "${RALIMP_TEST_FOLDER} costs $5");
    EXPECT_EQ(read("{}", {"name=${RALIMP_TEST_FOLDER}/x"}).name, "/some/where/x");
    const Environment empty("RALIMP_TEST_EMPTY", "");
    EXPECT_EQ(read("name: a${RALIMP_TEST_EMPTY}b").name, "ab");
    EXPECT_EQ(error_of_text("name: ${RALIMP_TEST_EMPTY}"),
              "run.yaml:1:7: name = ${RALIMP_TEST_EMPTY} must not be empty");
}

TEST(ConfigEnvironment, SaysWhichVariableIsMissing) {
    unsetenv("RALIMP_TEST_UNSET");
    EXPECT_EQ(error_of_text("image: ${RALIMP_TEST_UNSET}/images/camera.png"),
              "run.yaml:1:8: image = ${RALIMP_TEST_UNSET}/images/camera.png needs the environment "
              "variable RALIMP_TEST_UNSET, which is not set");
    const Environment variable("RALIMP_TEST_LATIN1", "caf\xe9");
    EXPECT_NE(error_of_text("name: ${RALIMP_TEST_LATIN1}").find("which is not UTF-8"),
              std::string::npos);
    for (const char* text : {"${", "${}", "${A", "${1A}", "${A-B}", "${A:-b}"})
        EXPECT_NE(error_of_text(fmt::format("name: \"{}\"", text)).find("write $${"),
                  std::string::npos)
            << text;
}

TEST(ConfigPaths, AreRelativeToTheFileTheyStandIn) {
    const TemporaryFolder folder;
    folder.write("images/base.yaml", "image: a.png\n");
    const auto file = folder.write("configs/run.yaml", "base: ../images/base.yaml\n");
    const auto own = folder.write("configs/own.yaml", "image: ../images/b.png\n");
    fs::create_directory(folder.path() / "elsewhere");
    for (const fs::path& from : {folder.path(), folder.path() / "elsewhere", fs::path("/")}) {
        const WorkingDirectory here(from);
        EXPECT_EQ(read_config<RunConfig>(file).image, folder.path() / "images/a.png");
        EXPECT_EQ(read_config<RunConfig>(own).image, folder.path() / "images/b.png");
    }
    const WorkingDirectory here(folder.path() / "configs");
    EXPECT_EQ(read_config<RunConfig>("own.yaml").image, folder.path() / "images/b.png");
    EXPECT_EQ(read_config<RunConfig>("../configs/run.yaml").image, folder.path() / "images/a.png");
    EXPECT_EQ(read("{}", {"image=c.png"}).image, folder.path() / "configs/c.png");
    EXPECT_EQ(read("image: ''").image, "");
    EXPECT_EQ(error_of([] {
                  read_config<RunConfig>("own.yaml", std::vector<std::string>{"x=1"});
              }).find("override x=1: unknown key x"),
              0u);
}

TEST(ConfigOverrides, ChangeOneKeyAndKeepTheRest) {
    const std::string text = "seed: 3\noptimizer: {kind: sgd, momentum: 0.5}\n";
    const RunConfig config =
        read(text, {"optimizer.learning_rate=1e-2", "network.layers=[2,20,1]", "seed=1e3",
                    "network.hidden={kind: ralimp}", "name=a b=c", "deterministic=false", "clip=2",
                    "losses=[{name: x}, {name: y, weight: 2}]"});
    EXPECT_EQ(std::get<SgdConfig>(config.optimizer), (SgdConfig{1e-2, 0.5}));
    EXPECT_EQ(config.network.layers, (std::vector<int64_t>{2, 20, 1}));
    EXPECT_EQ(config.seed, 1000);
    EXPECT_EQ(std::get<RalimpConfig>(config.network.hidden).terms, 8);
    EXPECT_EQ(config.name, "a b=c");
    EXPECT_FALSE(config.deterministic);
    EXPECT_EQ(config.clip, 2.0);
    EXPECT_EQ(config.losses.size(), 2u);
    EXPECT_FALSE(read("clip: 3", {"clip=null"}).clip);
}

TEST(ConfigOverrides, OrderDoesNotMatter) {
    std::vector<std::string> overrides{"network.hidden.terms=3", "network.hidden={kind: ralimp}",
                                       "optimizer.momentum=0.25", "optimizer.kind=sgd"};
    std::sort(overrides.begin(), overrides.end());
    do {
        const RunConfig config = read("{}", overrides);
        EXPECT_EQ(std::get<RalimpConfig>(config.network.hidden).terms, 3);
        EXPECT_EQ(std::get<SgdConfig>(config.optimizer).momentum, 0.25);
    } while (std::next_permutation(overrides.begin(), overrides.end()));
}

TEST(ConfigOverrides, ChangeItemsOfLists) {
    const std::string text = "losses: [{name: a, limit: 3}, {name: b, weight: 5}]\n";
    const RunConfig config =
        read(text, {"losses.0.weight=2", "losses[1].limit=4", "losses.1.name=c",
                    "network.layers.1=64", "optimizer.betas.0=0.5"});
    EXPECT_EQ(config.losses, (std::vector<LossConfig>{{"a", 2, 3.0}, {"c", 5, 4.0}}));
    EXPECT_EQ(config.network.layers, (std::vector<int64_t>{2, 64, 1}));
    EXPECT_EQ(std::get<AdamConfig>(config.optimizer).betas[0], 0.5);
    EXPECT_EQ(read("table: [[1, 2], [3]]", {"table[0][1]=7"}).table,
              (std::vector<std::vector<double>>{{1, 7}, {3}}));

    EXPECT_EQ(
        error_of_text(text, {"losses.2.weight=2"}),
        "override losses.2.weight=2: losses has 2 items; there is no item 2 (the first is 0)");
    EXPECT_EQ(
        error_of_text(text, {"losses.weight=2"}),
        "override losses.weight=2: losses is a list; name an item of it by its number, from 0, "
        "not by weight");
    EXPECT_EQ(error_of_text(text, {"losses.1.wieght=2"}),
              "override losses.1.wieght=2: unknown key losses[1].wieght; did you mean weight?");
    EXPECT_EQ(error_of_text(text, {"losses.1.weight=-2"}),
              "override losses.1.weight=-2: losses[1].weight = -2 must be at least 0");
    EXPECT_EQ(error_of_text(text, {"network.layers.0=0"}),
              "override network.layers.0=0: network.layers[0] = 0 must be at least 1");
    EXPECT_NE(error_of_text(text, {"losses=[]", "losses.0.weight=2"}).find("set twice"),
              std::string::npos);
    EXPECT_NE(error_of_text(text, {"losses[0=2"}).find("unknown key losses[0"), std::string::npos);
    // In a file a map is no way to write a list.
    EXPECT_NE(error_of_text("losses: {0: {name: a}}").find("losses is a map; it must be a list"),
              std::string::npos);
}

TEST(ConfigOverrides, ErrorsShowTheOverride) {
    EXPECT_EQ(error_of_text("{}", {"optimizer.learning_rte=0.01"}),
              "override optimizer.learning_rte=0.01: unknown key optimizer.learning_rte; did you "
              "mean learning_rate?");
    EXPECT_EQ(error_of_text("{}", {"seed=abc"}),
              "override seed=abc: seed = abc is not a whole number");
    EXPECT_EQ(error_of_text("{}", {"low=3"}), "run.yaml: high: must be more than low");
    EXPECT_EQ(error_of_text("{}", {"high=-3"}), "override high=-3: high: must be more than low");
    EXPECT_EQ(error_of_text("{}", {"seed=1", "seed=2"}),
              "override seed=2: seed is set twice; also by override seed=1");
    EXPECT_EQ(error_of_text("{}", {"network.hidden=x", "network.hidden.kind=dense"}),
              "override network.hidden.kind=dense: network.hidden is set twice; also by override "
              "network.hidden=x");
    for (const char* text : {"seed", "=3", ""})
        EXPECT_EQ(error_of_text("{}", {text}),
                  fmt::format("override {}: write key.path=value", text));
    for (const char* text : {".seed=1", "a..b=1", "network.=1"})
        EXPECT_EQ(error_of_text("{}", {text}),
                  fmt::format("override {}: has an empty key; write key.path=value", text));
    EXPECT_NE(error_of_text("{}", {"seed="}).find("override seed=: seed is empty"),
              std::string::npos);
    EXPECT_NE(error_of_text("{}", {"network.layers=[2"}).find("override network.layers=[2"),
              std::string::npos);
    EXPECT_NE(error_of_text("{}", {"name=\xff"}).find("is not UTF-8"), std::string::npos);
    EXPECT_NE(error_of_text("{}", {"base=x.yaml"}).find("unknown key base"), std::string::npos);
}

}  // namespace
}  // namespace ralimp::config_example
