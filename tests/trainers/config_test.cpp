// Reading one YAML text: every kind of value, and one line for every kind of mistake.
#include "trainers/config.h"

#include <chrono>
#include <cmath>

#include "tests/trainers/config_example.h"

namespace ralimp::config_example {
namespace {

TEST(Config, ReadsEveryKindOfField) {
    const RunConfig config = read(
        "seed: -3\nstream: 18446744073709551615\ndeterministic: false\nlow: -2.5\ntolerance: 1e-4\n"
        "limit: .inf\nscale: 0.3\nname: first try\nimage: /a/b/../c.png\nclip: 2\n"
        "second: {learning_rate: 0.5}\nnetwork:\n  layers: [2, 64, 64, 1]\n  activation: sine\n"
        "  hidden: {kind: ralimp, terms: 5}\n  extra: [relu, tanh]\n"
        "optimizer: {kind: sgd, momentum: 0.9}\nlosses:\n  - name: residual\n"
        "  - {name: boundary, weight: 10, limit: 1e3}\ntable: [[1, 2], [], [3.5]]\n");
    EXPECT_EQ(config.seed, -3);
    EXPECT_EQ(config.stream, 18446744073709551615u);
    EXPECT_FALSE(config.deterministic);
    EXPECT_EQ(config.low, -2.5);
    EXPECT_EQ(config.high, 1);
    EXPECT_EQ(config.tolerance, 1e-4);
    EXPECT_TRUE(std::isinf(config.limit));
    EXPECT_EQ(config.scale, 0.3f);
    EXPECT_EQ(config.name, "first try");
    EXPECT_EQ(config.image, "/a/c.png");
    EXPECT_EQ(config.clip, 2.0);
    EXPECT_EQ(config.second->learning_rate, 0.5);
    EXPECT_EQ(config.second->betas[1], 0.999);
    EXPECT_EQ(config.network.layers, (std::vector<int64_t>{2, 64, 64, 1}));
    EXPECT_EQ(config.network.activation, Activation::sine);
    EXPECT_EQ(std::get<RalimpConfig>(config.network.hidden).terms, 5);
    EXPECT_EQ(config.network.extra, (std::vector{Activation::relu, Activation::tanh}));
    EXPECT_EQ(std::get<SgdConfig>(config.optimizer), (SgdConfig{0.1, 0.9}));
    ASSERT_EQ(config.losses.size(), 2u);
    EXPECT_EQ(config.losses[0], (LossConfig{"residual", 1, {}}));
    EXPECT_EQ(config.losses[1], (LossConfig{"boundary", 10, 1e3}));
    EXPECT_EQ(config.table, (std::vector<std::vector<double>>{{1, 2}, {}, {3.5}}));
}

TEST(Config, KeepsDefaultsOfAbsentKeys) { EXPECT_EQ(read("{}"), RunConfig{}); }

TEST(Config, KindOmittedMeansTheDefaultAlternative) {
    const RunConfig config = read("optimizer: {learning_rate: 0.25}");
    EXPECT_EQ(std::get<AdamConfig>(config.optimizer).learning_rate, 0.25);
}

// LlamaFactory#4014 and others: `lr: 1e-4` read as a text.
TEST(Config, ReadsEverySpellingOfANumber) {
    const std::pair<const char*, double> spellings[] = {
        {"1e-4", 1e-4},
        {"1.0E-4", 1e-4},
        {"1E-4", 1e-4},
        {"1.e-4", 1e-4},
        {"0.0001", 1e-4},
        {".0001", 1e-4},
        {".5", 0.5},
        {"5.", 5},
        {"+1", 1},
        {"+1e+2", 100},
        {"1e2", 100},
        {"0", 0},
        {"0.", 0},
        {"-0.0", 0},
        {"-7", -7},
        {"1e02", 100},
        {"0e5", 0},
        {"4.9e-324", 4.9e-324},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"0.1", 0.1},
        {"123456789.125", 123456789.125}};
    for (const auto& [text, value] : spellings)
        EXPECT_EQ(read(fmt::format("table: [[{}]]", text)).table[0][0], value) << text;
}

TEST(Config, RefusesWhatIsNotANumber) {
    for (const char* text : {"abc", "1e", "e5", ".", "+", "1.2.3", "1e5.0", "--1", "1 e5", "1/2",
                             "1f", "true", "0x10", "1_000", "1,000", "1e-4x", "∞"}) {
        const std::string message = error_of_text(fmt::format("low: {}", text));
        EXPECT_EQ(message.find(fmt::format("run.yaml:1:6: low = {} is not a number", text)), 0u)
            << message;
    }
    EXPECT_EQ(error_of_text("low: 1_000"),
              "run.yaml:1:6: low = 1_000 is not a number; write it without '_'");
    EXPECT_EQ(error_of_text("low: 1,000"),
              "run.yaml:1:6: low = 1,000 is not a number; write it without ','");
    EXPECT_EQ(error_of_text("low: 0x10"),
              "run.yaml:1:6: low = 0x10 is not a number; write it in decimal");
    EXPECT_EQ(error_of_text("low: '1e-4'"),
              "run.yaml:1:6: low = 1e-4 is a text in quotes, not a number; remove the quotes");
    EXPECT_EQ(error_of_text("low: ${X}"),
              "run.yaml:1:6: low = ${X} is not a number; environment "
              "variables are replaced in texts only");
    EXPECT_EQ(error_of_text("low: 010.5"),
              "run.yaml:1:6: low = 010.5 begins with 0, which some "
              "programs read as octal; remove the leading zero");
    for (const char* text : {"1e999", "-1e999", "1e-999"})
        EXPECT_NE(error_of_text(fmt::format("low: {}", text)).find("outside the range of a double"),
                  std::string::npos)
            << text;
}

TEST(Config, NotFiniteNumbersNeedPermission) {
    for (const char* text : {".inf", "-.inf", "+.inf", ".Inf", ".nan", ".NaN", "inf", "nan", "NaN"})
        EXPECT_EQ(error_of_text(fmt::format("low: {}", text)),
                  fmt::format("run.yaml:1:6: low = {} is not a finite number", text));
    EXPECT_TRUE(std::isinf(read("limit: +.inf").limit));
    EXPECT_TRUE(std::isnan(read("limit: .nan").limit));
    EXPECT_EQ(error_of_text("limit: -.inf"), "run.yaml:1:8: limit = -.inf must be at least 0");
    EXPECT_EQ(error_of_text("limit: inf"),
              "run.yaml:1:8: limit = inf is not a number; write .inf, -.inf or .nan");
}

TEST(Config, ReadsWholeNumbers) {
    const std::pair<const char*, int64_t> spellings[] = {
        {"0", 0},
        {"-0", 0},
        {"+12", 12},
        {"1e3", 1000},
        {"2.50e2", 250},
        {"1.0", 1},
        {"100e-2", 1},
        {"9223372036854775807", std::numeric_limits<int64_t>::max()},
        {"-9223372036854775808", std::numeric_limits<int64_t>::min()},
        {"1e18", 1'000'000'000'000'000'000},
        {"9007199254740993", 9007199254740993},
        {"0e99", 0}};
    for (const auto& [text, value] : spellings)
        EXPECT_EQ(read(fmt::format("seed: {}", text)).seed, value) << text;
}

TEST(Config, RefusesWhatIsNotAWholeNumber) {
    for (const char* text : {"three", "1.5", "1e-3", "1.5e0", "12e-1", "true", "1e-999999999999"})
        EXPECT_EQ(error_of_text(fmt::format("seed: {}", text)),
                  fmt::format("run.yaml:1:7: seed = {} is not a whole number", text));
    EXPECT_EQ(error_of_text("seed: 010"),
              "run.yaml:1:7: seed = 010 begins with 0, which some "
              "programs read as octal; remove the leading zero");
    for (const char* text : {"9223372036854775808", "-9223372036854775809", "1e19",
                             "1e999999999999", "99999999999999999999999999"})
        EXPECT_EQ(error_of_text(fmt::format("seed: {}", text)),
                  fmt::format("run.yaml:1:7: seed = {} is too large for a whole number of 64 bits",
                              text));
    EXPECT_EQ(error_of_text("stream: -1"), "run.yaml:1:9: stream = -1 must be at least 0");
    EXPECT_EQ(error_of_text("network: {hidden: {kind: ralimp, terms: 3000000000}}"),
              "run.yaml:1:41: network.hidden.terms = 3000000000 must be between -2147483648 and "
              "2147483647");
}

TEST(Config, ReadsOnlyTrueAndFalse) {
    for (const char* text : {"true", "True", "TRUE"})
        EXPECT_TRUE(read(fmt::format("deterministic: {}", text)).deterministic);
    for (const char* text : {"false", "False", "FALSE"})
        EXPECT_FALSE(read(fmt::format("deterministic: {}", text)).deterministic);
    for (const char* text : {"yes", "on", "On", "Y", "1"})
        EXPECT_EQ(error_of_text(fmt::format("deterministic: {}", text)),
                  fmt::format("run.yaml:1:16: deterministic = {} is not true or false; write true",
                              text));
    for (const char* text : {"no", "off", "OFF", "n", "0"})
        EXPECT_EQ(error_of_text(fmt::format("deterministic: {}", text)),
                  fmt::format("run.yaml:1:16: deterministic = {} is not true or false; write false",
                              text));
    EXPECT_EQ(error_of_text("deterministic: 1.5"),
              "run.yaml:1:16: deterministic = 1.5 is not true or false");
    EXPECT_EQ(error_of_text("deterministic: 'true'"),
              "run.yaml:1:16: deterministic = true is a text in quotes, not true or false; remove "
              "the quotes");
}

TEST(Config, ReadsTexts) {
    EXPECT_EQ(read("name: 007").name, "007");
    EXPECT_EQ(read("name: yes").name, "yes");
    EXPECT_EQ(read("name: 'a: b # c'").name, "a: b # c");
    EXPECT_EQ(read("name: \"tab\\tand \\u00e9\"").name, "tab\tand é");
    EXPECT_EQ(read("name: |\n  two\n  lines\n").name, "two\nlines\n");
    EXPECT_EQ(error_of_text("name: ''"), "run.yaml:1:7: name = '' must not be empty");
    EXPECT_EQ(error_of_text("name:"),
              "run.yaml:1:1: name is empty; give it a single value or "
              "remove the key");
}

TEST(Config, RepeatsListItems) {
    EXPECT_EQ(read("network: {layers: [2, 20 x 4, 1]}").network.layers,
              (std::vector<int64_t>{2, 20, 20, 20, 20, 1}));
    EXPECT_EQ(read("network: {layers: [2, 20x2, 1]}").network.layers,
              (std::vector<int64_t>{2, 20, 20, 1}));
    EXPECT_EQ(read("table: [[0 x 3, .5x2]]").table[0], (std::vector<double>{0, 0, 0, 0.5, 0.5}));
    EXPECT_EQ(
        error_of_text("network: {layers: [2, 20 x 0, 1]}"),
        "run.yaml:1:23: network.layers[1] = 20 x 0 repeats a value; the count must be between "
        "1 and 10000");
    EXPECT_NE(error_of_text("table: [[0x10]]").find("write it in decimal"), std::string::npos);
    EXPECT_NE(error_of_text("low: 20 x 4").find("is not a number"), std::string::npos);
    std::string many = "table: [[";
    for (int i = 0; i < 20; ++i) many += "1 x 10000, ";
    EXPECT_NE(error_of_text(many + "1]]").find("longer than 100000 items"), std::string::npos);
}

TEST(Config, NullIsForOptionalFields) {
    EXPECT_FALSE(read("clip: null").clip);
    EXPECT_FALSE(read("clip: ~").clip);
    EXPECT_FALSE(read("second: null").second);
    EXPECT_EQ(error_of_text("clip: 0"), "run.yaml:1:7: clip = 0 must be more than 0");
    EXPECT_EQ(error_of_text("seed: null"),
              "run.yaml:1:1: seed is empty; give it a single value or "
              "remove the key");
    EXPECT_EQ(error_of_text("optimizer:\nseed: 1"),
              "run.yaml:1:1: optimizer is empty; give it a map of keys or remove the key");
    EXPECT_EQ(
        error_of_text("network: {layers: [1,,2]}"),
        "run.yaml:1:22: network.layers[1] is empty; give it a single value or remove the key");
}

// unsloth PR#10452, OpenMHC#14, hydra#1951: misspelt or misplaced keys were ignored.
TEST(Config, RefusesUnknownKeysAtAnyDepth) {
    EXPECT_EQ(error_of_text("seed: 3\noptimizer:\n  learning_rte: 0.01\n"),
              "run.yaml:3:3: unknown key optimizer.learning_rte; did you mean learning_rate?");
    EXPECT_EQ(error_of_text("sede: 3"), "run.yaml:1:1: unknown key sede; did you mean seed?");
    EXPECT_EQ(error_of_text("Seed: 3"), "run.yaml:1:1: unknown key Seed; did you mean seed?");
    EXPECT_EQ(error_of_text("network: {hidden: {kind: ralimp, term: 3}}"),
              "run.yaml:1:34: unknown key network.hidden.term; did you mean terms?");
    EXPECT_EQ(error_of_text("losses:\n  - {name: a}\n  - {name: b, wieght: 2}\n"),
              "run.yaml:3:15: unknown key losses[1].wieght; did you mean weight?");
    EXPECT_EQ(error_of_text("second: {lr: 1}"),
              "run.yaml:1:10: unknown key second.lr; the keys here are learning_rate, betas");
    EXPECT_EQ(error_of_text("network: {hidden: {kind: dense, size: 3}}"),
              "run.yaml:1:33: unknown key network.hidden.size; the keys here are kind");
    EXPECT_EQ(error_of_text("'': 3").find("run.yaml:1:1: unknown key ; the keys here are seed"),
              0u);
}

TEST(Config, SaysWhereAMisplacedKeyBelongs) {
    EXPECT_EQ(error_of_text("terms: 3"),
              "run.yaml:1:1: unknown key terms; did you mean "
              "network.hidden.terms (with network.hidden.kind=ralimp)?");
    EXPECT_EQ(error_of_text("activation: tanh"),
              "run.yaml:1:1: unknown key activation; did you mean network.activation?");
    EXPECT_EQ(error_of_text("optimizer: {momentum: 0.9}"),
              "run.yaml:1:13: unknown key optimizer.momentum; it belongs to optimizer.kind=sgd");
    EXPECT_EQ(
        error_of_text("network.activation: tanh"),
        "run.yaml:1:1: unknown key network.activation; write it nested, one map for each dot");
}

// A hint costs the listing of every key; only three are shown.
TEST(Config, ManyUnknownKeysCostNoMoreThanReadingThem) {
    std::string text;
    for (int i = 0; i < 60'000; ++i) text += fmt::format("seed_{}: 1\n", i);
    const auto start = std::chrono::steady_clock::now();
    const std::string message = error_of_text(text);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_NE(message.find("(and 59997 more)"), std::string::npos) << message;
    EXPECT_NE(message.find("unknown key seed_0; did you mean seed?"), std::string::npos) << message;
    EXPECT_LT(seconds.count(), 10);  // it was a minute; most of it is the YAML parser now
}

TEST(Config, RefusesRepeatedKeys) {
    EXPECT_EQ(error_of_text("seed: 1\nname: x\nseed: 2\n"),
              "run.yaml:3:1: key seed is given twice; it stands already at run.yaml:1:1");
    EXPECT_EQ(error_of_text("optimizer: {kind: sgd, kind: adam}"),
              "run.yaml:1:24: key kind is given twice; it stands already at run.yaml:1:13");
}

TEST(Config, RefusesValuesOfAnotherKind) {
    EXPECT_EQ(error_of_text("optimizer: adam"),
              "run.yaml:1:12: optimizer = adam must be a map of keys");
    EXPECT_EQ(error_of_text("optimizer: [adam]"),
              "run.yaml:1:12: optimizer is a list; it must be a map of keys");
    EXPECT_EQ(error_of_text("seed: [1]"),
              "run.yaml:1:7: seed is a list; it must be a single value");
    EXPECT_EQ(error_of_text("seed: {a: 1}"),
              "run.yaml:1:7: seed is a map; it must be a single value");
    EXPECT_EQ(error_of_text("network: {layers: 20}"),
              "run.yaml:1:19: network.layers = 20 must be a list in [ ]");
    EXPECT_EQ(error_of_text("network: {layers: {a: 20}}"),
              "run.yaml:1:19: network.layers is a map; it must be a list in [ ]");
    EXPECT_EQ(error_of_text("losses: [residual]"),
              "run.yaml:1:10: losses[0] = residual must be a map of keys");
}

TEST(Config, RefusesUnknownWords) {
    EXPECT_EQ(error_of_text("network: {activation: sin}"),
              "run.yaml:1:23: network.activation = sin must be tanh | sine | relu; did you mean "
              "sine?");
    EXPECT_EQ(error_of_text("optimizer: {kind: lbfgs, memory: 50}"),
              "run.yaml:1:19: optimizer.kind = lbfgs must be sgd | adam");
    EXPECT_EQ(error_of_text("optimizer: {kind: [adam]}"),
              "run.yaml:1:19: optimizer.kind is a list; it must be one word");
}

TEST(Config, ChecksBounds) {
    EXPECT_EQ(error_of_text("optimizer: {learning_rate: -1}"),
              "run.yaml:1:28: optimizer.learning_rate = -1 must be more than 0");
    EXPECT_EQ(error_of_text("tolerance: 1.5"),
              "run.yaml:1:12: tolerance = 1.5 must be between 0 and 1");
    EXPECT_EQ(error_of_text("optimizer: {kind: sgd, momentum: 1}"),
              "run.yaml:1:34: optimizer.momentum = 1 must be at least 0 and less than 1");
    EXPECT_EQ(error_of_text("network: {layers: [2, 0, 1]}"),
              "run.yaml:1:23: network.layers[1] = 0 must be at least 1");
    EXPECT_EQ(error_of_text("network: {layers: [2]}"),
              "run.yaml:1:19: network.layers must have at least 2 items, not 1");
    EXPECT_EQ(error_of_text("optimizer: {betas: [0.9]}"),
              "run.yaml:1:20: optimizer.betas must have 2 items, not 1");
    EXPECT_EQ(read("tolerance: 0").tolerance, 0);
    EXPECT_EQ(read("tolerance: 1").tolerance, 1);
}

TEST(Config, ChecksRequiredKeysAndConditions) {
    EXPECT_EQ(error_of_text("losses:\n  - {weight: 2}\n"),
              "run.yaml:2:5: losses[0].name is missing; it has no default");
    EXPECT_EQ(error_of_text("low: 3\nhigh: 2\n"), "run.yaml:2:7: high: must be more than low");
    EXPECT_EQ(error_of_text("low: 3\n"), "run.yaml: high: must be more than low");
}

TEST(Config, RefusesWhatIsNoMap) {
    EXPECT_EQ(error_of_text("[1, 2]"),
              "run.yaml:1:1: the config is a list; it must be a map of keys");
    EXPECT_EQ(error_of_text("hello"), "run.yaml:1:1: the config = hello must be a map of keys");
    for (const char* text : {"", "\n\n", "# only a comment\n"})
        EXPECT_EQ(error_of_text(text), "run.yaml: the config is empty; give it a map of keys");
    for (const char* text : {"---\n", "null"})
        EXPECT_TRUE(error_of_text(text).starts_with("run.yaml:") &&
                    error_of_text(text).ends_with(": the config is empty; give it a map of keys"))
            << error_of_text(text);
}

TEST(Config, RefusesYamlBeyondTheSubset) {
    EXPECT_EQ(error_of_text("seed: 1\n---\nseed: 2\n"),
              "run.yaml:2:1: a second document begins here; a config is one document");
    EXPECT_EQ(error_of_text("seed: 1\n...\nname: x\n").find("run.yaml:3:1: a second document"), 0u);
    EXPECT_EQ(error_of_text("seed: &s 1\nstream: *s\n"),
              "run.yaml:1:7: anchor &s: anchors are not supported; use base: or write the value "
              "again");
    EXPECT_NE(error_of_text("seed: *s").find("run.yaml:1:7: "), std::string::npos);
    EXPECT_EQ(error_of_text("<<: {seed: 1}"),
              "run.yaml:1:1: merge keys (<<) are not supported; use "
              "base: or write the keys out");
    EXPECT_EQ(error_of_text("seed: !!str 3"),
              "run.yaml:1:7: tag tag:yaml.org,2002:str: tags are not supported; remove it");
    EXPECT_EQ(error_of_text("? [a, b]\n: 1\n"), "run.yaml:1:3: a key must be a word");
    EXPECT_EQ(error_of_text("network:\n\tlayers: [1, 2]\n"),
              "run.yaml:2:1: a tab in the indentation; use spaces");
    EXPECT_EQ(error_of_text("seed: 1\n  \tname: x\n"),
              "run.yaml:2:3: a tab in the indentation; use spaces");
    EXPECT_EQ(error_of_text(std::string("seed: 1\0\n", 9)), "run.yaml:1:8: control character 0x00");
    EXPECT_EQ(error_of_text(std::string(2 << 20, '#')),
              "run.yaml: 2097152 bytes are too many for a config; at most 1048576");
    EXPECT_NE(error_of_text(std::string(5000, '[')).find("nested"), std::string::npos);
    std::string deep = "table: ";
    for (int i = 0; i < 70; ++i) deep += "[";
    EXPECT_NE(error_of_text(deep).find("nested more than 64 deep"), std::string::npos);
}

TEST(Config, RefusesBadUtf8) {
    EXPECT_EQ(error_of_text("name: \xff\n"),
              "run.yaml:1:7: byte 0xff is not UTF-8; save the file as UTF-8");
    for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xc3(", "\xe0\x80\x80", "\xed\xa0\x80",
                            "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"})
        EXPECT_NE(error_of_text(fmt::format("seed: 1\nname: ok{}", bad)).find("run.yaml:2:9: byte"),
                  std::string::npos);
    for (const char* good : {"é", "€", "𝄞", "\xf4\x8f\xbf\xbf", "\xee\x80\x80"})
        EXPECT_EQ(read(fmt::format("name: {}", good)).name, good);
    EXPECT_EQ(read("\xEF\xBB\xBFseed: 4\r\nname: x\r\n").seed, 4);  // as Windows editors save it
    const std::string utf16("\xff\xfes\0e\0", 6);
    EXPECT_NE(error_of_text(utf16).find("not UTF-8"), std::string::npos);
}

TEST(Config, CountsColumnsInCharacters) {
    EXPECT_EQ(error_of_text("second: {é: 1, betas: [ñ, 1]}").substr(0, 14), "run.yaml:1:10:");
    EXPECT_NE(error_of_text("second: {é: 1, betas: [ñ, x]}").find("run.yaml:1:24:"),
              std::string::npos);
    EXPECT_NE(error_of_text("second: {é: 1, betas: [ñ, x]}").find("run.yaml:1:27:"),
              std::string::npos);
}

TEST(Config, PointsAtBrokenYaml) {
    for (const char* text : {"seed: [1, 2\n", "seed: 3\n  name: x\n", "name: \"a\" b\n",
                             "a: b: c\n", "seed: 1\n- 2\n", "}\n", "name: @x\n", "name: 'x"}) {
        const std::string message = error_of_text(text);
        EXPECT_NE(message.find("not valid YAML: "), std::string::npos) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
    }
    EXPECT_NE(error_of_text("second: {image: ${X}/a}").find("a text with ${NAME} needs quotes"),
              std::string::npos);
}

// hydra#349, physicsnemo#897: a long trace instead of one line.
TEST(Config, ReportsAtMostThreeLines) {
    EXPECT_EQ(error_of_text("sede: 3\nlow: x\noptimizer: {learning_rate: 0}\n"),
              "run.yaml:1:1: unknown key sede; did you mean seed?\n"
              "run.yaml:2:6: low = x is not a number\n"
              "run.yaml:3:28: optimizer.learning_rate = 0 must be more than 0");
    EXPECT_EQ(error_of_text("low: x\nhigh: x\nseed: x\nstream: x\ndeterministic: x\n"),
              "run.yaml:1:6: low = x is not a number\n"
              "run.yaml:2:7: high = x is not a number\n"
              "run.yaml:3:7: seed = x is not a whole number (and 2 more)");
    const std::string message = error_of_text("low: \"" + std::string(5000, 'y') + "\\n\\e\"");
    EXPECT_LT(message.size(), 120u);
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(error_of_text("low: \"a\\nb\""), "run.yaml:1:6: low = a\\nb is not a number");
}

}  // namespace
}  // namespace ralimp::config_example
