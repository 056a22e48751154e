// Writing: what is written reads back as the same values; the list of keys for the help.
#include "trainers/config_writer.h"

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "tests/trainers/config_example.h"

namespace ralimp::config_example {
namespace {

void expect_round_trip(const RunConfig& config) {
    for (const auto comments : {ConfigComments::none, ConfigComments::help}) {
        const std::string text = write_config(config, comments);
        EXPECT_EQ(read(text), config) << text;
    }
}

TEST(ConfigWriter, WritesEveryKey) {
    RunConfig config;
    config.losses = {{"residual", 1, {}}, {"yes", 0.5, 2.0}};
    config.network.hidden = RalimpConfig{5};
    config.second = AdamConfig{};
    config.table = {{1, 2}, {}};
    EXPECT_EQ(write_config(config),
              "seed: 0\nstream: 0\ndeterministic: true\nlow: -1\nhigh: 1\ntolerance: 1e-09\n"
              "limit: .inf\nscale: 0.1\nname: run\nimage: \"\"\nclip: null\n"
              "second:\n  learning_rate: 0.001\n  betas: [0.9, 0.999]\n"
              "network:\n  layers: [2, 20, 1]\n  activation: tanh\n"
              "  hidden:\n    kind: ralimp\n    terms: 5\n  extra: []\n"
              "optimizer:\n  kind: adam\n  learning_rate: 0.001\n  betas: [0.9, 0.999]\n"
              "losses:\n  - name: residual\n    weight: 1\n    limit: null\n"
              "  - name: \"yes\"\n    weight: 0.5\n    limit: 2\ntable: [[1, 2], []]\n");
    expect_round_trip(config);
}

TEST(ConfigWriter, CommentsAreTheHelp) {
    const std::string text = write_config(RunConfig{}, ConfigComments::help);
    EXPECT_NE(text.find("seed: 0  # seed of every random stream\n"), std::string::npos);
    EXPECT_NE(text.find("optimizer:  # how parameters move\n  kind: adam  # sgd | adam\n"
                        "  learning_rate: 0.001  # step size\n"),
              std::string::npos);
    expect_round_trip(RunConfig{});
}

// Of every key with a choice, as the list of keys has it.
TEST(ConfigWriter, CommentsNameTheWordsOfAChoice) {
    const std::string text = write_config(RunConfig{}, ConfigComments::help);
    int choices = 0;
    for (const ConfigKey& key : list_config_keys<RunConfig>()) {
        if (key.type.find(" | ") == std::string::npos || key.type == "true | false" ||
            !key.kind.empty())
            continue;
        const std::string name = key.path.substr(key.path.rfind('.') + 1) + ": ";
        const std::string words = key.type.starts_with("list of ") ? key.type.substr(8) : key.type;
        bool found = false;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            found = found ||
                    (line.find_first_not_of(' ') == line.find(name) &&
                     line.find(words) > line.find('#') && line.find(words) != std::string::npos);
        EXPECT_TRUE(found) << key.path << " with " << words;
        ++choices;
    }
    EXPECT_GE(choices, 4);
}

TEST(ConfigWriter, DoublesRoundTripBitForBit) {
    std::mt19937_64 random(7);
    std::vector<double> values{0.1, 1.0 / 3, 1e22, 1e-5, 123456789012345680.0, 5e-324, -0.0, 1e300};
    for (int i = 0; i < 20000; ++i) {
        const uint64_t bits = random();
        double value;
        std::memcpy(&value, &bits, sizeof value);
        if (std::isfinite(value)) values.push_back(value);
    }
    RunConfig config;
    config.table = {values};
    const RunConfig again = read(write_config(config));
    ASSERT_EQ(again.table[0].size(), values.size());
    EXPECT_EQ(std::memcmp(again.table[0].data(), values.data(), values.size() * sizeof(double)), 0);
    for (int i = 0; i < 1000; ++i) {
        config.scale = static_cast<float>(values[static_cast<std::size_t>(i) + 8] * 1e-30);
        if (!std::isfinite(config.scale)) continue;
        EXPECT_EQ(
            read(fmt::format("scale: {}", yaml_text(static_cast<double>(config.scale)))).scale,
            config.scale);
        config.table.clear();
        EXPECT_EQ(read(write_config(config)).scale, config.scale);
    }
}

TEST(ConfigWriter, TextsRoundTrip) {
    std::vector<std::string> texts{"plain",
                                   "two words",
                                   "yes",
                                   "null",
                                   "~",
                                   "1e3",
                                   "010",
                                   "true",
                                   "a: b",
                                   "# no",
                                   "- x",
                                   "[a]",
                                   "{a}",
                                   "'single'",
                                   "\"double\"",
                                   "back\\slash",
                                   "line\nbreak",
                                   "tab\there",
                                   "é€𝄞",
                                   "${HOME}",
                                   "$${HOME}",
                                   "$",
                                   "$$",
                                   "trail ",
                                   " lead",
                                   "&a",
                                   "*a",
                                   "!t",
                                   "%d",
                                   "@x",
                                   "a,b",
                                   "a]b",
                                   "\x01\x1f\x7f",
                                   "-",
                                   "---",
                                   "...",
                                   "<<",
                                   "=",
                                   "?",
                                   "20 x 4",
                                   "/abs/path.png",
                                   "\u0085\u2028\ufeff",
                                   "c\rd"};
    for (const std::string& text : texts) {
        RunConfig config;
        config.name = text;
        config.losses = {{text, 1, {}}};
        expect_round_trip(config);
    }
}

TEST(ConfigWriter, ResolvesBasesAndEnvironment) {
    setenv("RALIMP_TEST_NAME", "from outside", 1);
    const TemporaryFolder folder;
    folder.write("base.yaml", "seed: 5\nimage: pictures/a.png\n");
    const auto file = folder.write("run.yaml", "base: base.yaml\nname: ${RALIMP_TEST_NAME}\n");
    const RunConfig config = read_config<RunConfig>(file, std::vector<std::string>{"low=-4"});
    unsetenv("RALIMP_TEST_NAME");
    const std::string text = write_config(config);
    EXPECT_EQ(text.find("base:"), std::string::npos);
    EXPECT_NE(text.find("name: \"from outside\"\n"), std::string::npos);
    EXPECT_EQ(read(text), config);
    EXPECT_EQ(read(text).low, -4);
}

TEST(ConfigWriter, SpecialNumbers) {
    RunConfig config;
    config.limit = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(read(write_config(config)).limit));
    config.limit = 1;
    config.seed = std::numeric_limits<int64_t>::min();
    config.stream = std::numeric_limits<uint64_t>::max();
    expect_round_trip(config);
}

struct EmptyConfig {
    static void describe(auto&, auto&) {}
    bool operator==(const EmptyConfig&) const = default;
};
struct HolderConfig {
    EmptyConfig empty;
    std::vector<EmptyConfig> several{{}, {}};
    struct Inner {
        EmptyConfig last;
        static void describe(auto& config, auto& field) { field("last", config.last, ""); }
        bool operator==(const Inner&) const = default;
    } inner;
    std::optional<std::variant<DenseConfig, RalimpConfig>> maybe;
    static void describe(auto& config, auto& field) {
        field("empty", config.empty, "nothing");
        field("several", config.several, "nothings");
        field("inner", config.inner, "");
        field("maybe", config.maybe, "a layer or null");
    }
    bool operator==(const HolderConfig&) const = default;
};

TEST(ConfigWriter, EmptyMaps) {
    HolderConfig config;
    EXPECT_EQ(write_config(config),
              "empty: {}\nseveral:\n  - {}\n  - {}\ninner:\n  last: {}\nmaybe: null\n");
    config.maybe = RalimpConfig{4};
    for (const auto comments : {ConfigComments::none, ConfigComments::help})
        EXPECT_EQ(read_config_text<HolderConfig>(write_config(config, comments)), config);
    EXPECT_EQ(write_config(EmptyConfig{}), "{}\n");
    EXPECT_EQ(read_config_text<EmptyConfig>("{}"), EmptyConfig{});
}

// A task chosen at the top of the file.
using Task = std::variant<SgdConfig, AdamConfig>;

TEST(ConfigWriter, VariantAtTheRoot) {
    const Task task = read_config_text<Task>("kind: adam\nlearning_rate: 3\n");
    EXPECT_EQ(write_config(task), "kind: adam\nlearning_rate: 3\nbetas: [0.9, 0.999]\n");
    EXPECT_EQ(read_config_text<Task>(write_config(task)), task);
    EXPECT_EQ(error_of([] { read_config_text<Task>("kind: adam\nmomentum: 3\n", "a.yaml"); }),
              "a.yaml:2:1: unknown key momentum; it belongs to kind=sgd");
}

TEST(ConfigHelp, ListsEveryKeyWithTypeAndDefault) {
    const std::string help = config_help<RunConfig>();
    for (const char* line :
         {"seed                       whole number, default 0  # seed of every random stream\n",
          "tolerance                  number between 0 and 1, default 1e-09  # where to stop\n",
          "clip                       number more than 0, or null, default null",
          "network.activation         tanh | sine | relu, default tanh",
          "network.hidden.kind        dense | ralimp, default dense",
          "with network.hidden.kind=ralimp:\n  network.hidden.terms     whole number at least 1",
          "optimizer.kind             sgd | adam, default adam",
          "with optimizer.kind=sgd:\n  optimizer.learning_rate  number more than 0, default 0.1 ",
          "with optimizer.kind=adam:\n  optimizer.learning_rate  number more than 0, default "
          "0.001 ",
          "losses[].name              text, required  # which term\n"})
        EXPECT_NE(help.find(line), std::string::npos) << line << "\nis not in\n" << help;
}

// Texts made by mutating a good one: read without a crash, or refused with one to three lines.
TEST(ConfigFuzz, MutatedTextsAreReadOrRefused) {
    RunConfig config;
    config.losses = {{"residual", 1, {}}, {"é", 0.5, 2.0}};
    config.second = AdamConfig{};
    const std::string good = write_config(config, ConfigComments::help) + "# base: ${HOME}\n";
    const std::string alphabet = "{}[]:,#&*!|>'\"%@`~?-+.x0123eE \n\t$<=\\\xc3\xa9";
    std::mt19937 random(11);
    int read_count = 0, refused_count = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string text = good;
        for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = alphabet[random() % alphabet.size()];
                    break;
                case 1:
                    text.insert(at, 1, alphabet[random() % alphabet.size()]);
                    break;
                case 2:
                    text.erase(at, 1 + random() % 20);
                    break;
                case 3:
                    text.insert(at, good.substr(random() % good.size(), random() % 30));
                    break;
            }
            if (text.empty()) text = " ";
        }
        try {
            const RunConfig again = read(text);
            EXPECT_EQ(write_config(read(write_config(again))), write_config(again)) << text;
            ++read_count;
        } catch (const Error& error) {
            const std::string message = error.what();
            EXPECT_EQ(error.code(), ExitCode::bad_config);
            EXPECT_LE(std::count(message.begin(), message.end(), '\n'), 2) << message;
            ++refused_count;
        }
    }
    EXPECT_GT(read_count, 200);
    EXPECT_GT(refused_count, 1000);
}

}  // namespace
}  // namespace ralimp::config_example
