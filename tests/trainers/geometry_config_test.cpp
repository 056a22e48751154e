// Geometries read from YAML, nested, with the place of every mistake.
#include "data/geometry_config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/error_of.h"
#include "trainers/config.h"

namespace ralimp {
namespace {

struct DomainConfig {
    GeometryConfig geometry;
    static void describe(auto& config, auto& field) {
        field("geometry", config.geometry, "where the equation holds");
    }
};

DomainConfig read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_config_text<DomainConfig>(text, "run.yaml", overrides);
}

const char* const plate = R"(geometry:
  kind: difference
  parts:
    - kind: union
      parts:
        - {kind: rectangle, lower: [-1, -1], upper: [1, 1]}
        - {kind: polygon, vertices: [[1, -1], [2, 0], [1, 1]]}
    - {kind: disk, center: [0.5, 0], radius: 0.25}
)";

TEST(GeometryConfig, ANestedGeometryIsReadWrittenAndMade) {
    const DomainConfig config = read(plate);
    const auto& cut = std::get<DifferenceConfig>(config.geometry);
    ASSERT_EQ(cut.parts.size(), 2u);
    EXPECT_EQ(std::get<UnionConfig>(cut.parts[0]).parts.size(), 2u);
    EXPECT_EQ(std::get<DiskConfig>(cut.parts[1]).radius, 0.25);
    const std::string written = write_config(config, ConfigComments::help);
    EXPECT_EQ(write_config(read(written), ConfigComments::help), written);
    const GeometryPtr geometry = make_geometry(config.geometry);
    EXPECT_EQ(geometry->dims(), 2);
    EXPECT_EQ(geometry->bounding_box().upper, (std::vector<double>{2, 1}));
    EXPECT_TRUE(geometry->contains({1.2, 0, 0}));
    EXPECT_TRUE(geometry->contains({1, 0.9, 0}));  // the seam of the union
    EXPECT_FALSE(geometry->contains({0.5, 0, 0}));
    EXPECT_FALSE(geometry->contains({1.8, 0.5, 0}));
    // An override may reach into it.
    const DomainConfig wider = read(plate, {"geometry.parts.1.radius=0.5"});
    EXPECT_FALSE(make_geometry(wider.geometry)->contains({0.1, 0, 0}));
}

TEST(GeometryConfig, EveryKindIsMadeFromItsDefaults) {
    for (const char* kind :
         {"interval", "rectangle", "cuboid", "disk", "sphere", "polygon", "l_shape"}) {
        const DomainConfig config = read(fmt::format("geometry: {{kind: {}}}", kind));
        const std::string written = write_config(config, ConfigComments::help);
        EXPECT_EQ(write_config(read(written), ConfigComments::help), written);
        EXPECT_GT(make_geometry(config.geometry)->boundary_measure(), 0) << kind;
    }
    for (const char* kind : {"union", "difference", "intersection"}) {
        const DomainConfig config = read(fmt::format(
            "geometry: {{kind: {}, parts: [{{kind: disk}}, {{kind: rectangle}}]}}", kind));
        EXPECT_GT(make_geometry(config.geometry)->boundary_measure(), 0) << kind;
    }
    const auto l_shape = make_geometry(
        read("geometry: {kind: l_shape, lower: [0, 0], upper: [3, 3], corner: [1, 2]}").geometry);
    EXPECT_DOUBLE_EQ(l_shape->boundary_measure(), 12);
    EXPECT_FALSE(l_shape->contains({1.1, 2.1, 0}));
    EXPECT_TRUE(l_shape->contains({1, 2, 0}));
    EXPECT_TRUE(l_shape->contains({0.9, 2.9, 0}));
    EXPECT_TRUE(l_shape->contains({2.9, 1.9, 0}));
}

TEST(GeometryConfig, MistakesAreReportedWithTheirPlace) {
    const auto text = [](const std::string& yaml) {
        const Thrown thrown = error_of([&] { read(yaml); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config);
        return thrown.text;
    };
    const auto has = [](const std::string& message, const std::string& part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    const std::string nested = "geometry:\n  kind: union\n  parts:\n    - {kind: disk}\n    - ";
    has(text(nested + "{kind: squre}\n"), "run.yaml:5:14: geometry.parts[1].kind");
    has(text(nested + "{kind: disk, radius: 0}\n"), "run.yaml:5:28: geometry.parts[1].radius");
    has(text(nested + "{kind: disk, radus: 1}\n"),
        "run.yaml:5:20: unknown key geometry.parts[1].radus; did you mean radius?");
    has(text(nested + "{kind: rectangle, upper: [0, 1]}\n"),
        "run.yaml:5:32: geometry.parts[1].upper: must be more than lower along each axis");
    has(text(nested + "{kind: union, parts: [{kind: disk}]}\n"), "geometry.parts[1].parts");
    has(text(nested + "{kind: polygon, vertices: [[0, 0], [1, 1], [1, 0], [0, 1]]}\n"),
        "run.yaml:5:33: geometry.parts[1].vertices: crosses or touches itself: its edges from "
        "vertices 0 and 2");
    has(text(nested + "{kind: polygon, vertices: [[0, 0], [1, 1]]}\n"), "at least 3 are needed");
    has(text("geometry: {kind: polygon, vertices: [[0, 0, 1]]}"), "geometry.vertices[0]");
    has(text("geometry: {kind: union}"), "geometry.parts is missing; it has no default");
    has(text("geometry: {kind: interval, lower: 1, upper: 1}"),
        "geometry.upper: must be more than lower");
    has(text("geometry: {kind: l_shape, corner: [1, 0]}"), "geometry.corner: must be between");
}

// What only shows when the geometry is made names the part.
TEST(GeometryConfig, WhatCannotBeMadeNamesThePart) {
    const auto made = [](const std::string& yaml) {
        const DomainConfig config = read(yaml);
        const Thrown thrown = error_of([&] { make_geometry(config.geometry, "domain"); });
        EXPECT_EQ(thrown.code, ExitCode::bad_config);
        return thrown.text;
    };
    EXPECT_EQ(made("geometry: {kind: union, parts: [{kind: disk}, {kind: intersection, parts: "
                   "[{kind: disk}, {kind: sphere}]}]}"),
              "domain.parts[1]: intersection: parts with 2 and 3 axes cannot be combined");
    EXPECT_EQ(made("geometry: {kind: difference, parts: [{kind: disk}, {kind: disk, radius: 2}]}"),
              "domain: difference: nothing is left of its parts");
}

// A geometry holds geometries: the list of keys ends all the same.
TEST(GeometryConfig, KeysAreListedOnceAlongAPath) {
    const auto keys = list_config_keys<DomainConfig>();
    EXPECT_LT(keys.size(), 50u);
    for (const ConfigKey& key : keys) EXPECT_FALSE(key.help.empty()) << key.path;
    const auto has = [&](const std::string& path) {
        return std::any_of(keys.begin(), keys.end(),
                           [&](const ConfigKey& key) { return key.path == path; });
    };
    EXPECT_TRUE(has("geometry.radius"));
    EXPECT_TRUE(has("geometry.parts[].kind"));
    EXPECT_FALSE(has("geometry.parts[].parts[].kind"));
}

}  // namespace
}  // namespace ralimp
