#include "data/geometry.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/samplers.h"
#include "tests/data/geometry_cases.h"
#include "tests/error_of.h"

namespace ralimp {
namespace {

// Also outside the bounding box. Points closer to the boundary than the tolerance are left out.
TEST(Geometry, SignedDistanceAndContainsAgreeWithTheFormula) {
    for (const GeometryCase& known : geometry_cases()) {
        const Geometry& geometry = *known.geometry;
        const int64_t dims = geometry.dims();
        const Box around = scaled(geometry.bounding_box(), 1.5);
        const auto values = sobol_points({1}, around, 20000).to_vector<double>();
        int inside = 0;
        for (std::size_t i = 0; i < 20000; ++i) {
            const Point p = point_of(values, i, dims, dims);
            const double distance = geometry.signed_distance(p);
            if (std::abs(distance) <= geometry.tolerance()) continue;
            const bool want = known.is_inside(p[0], p[1], p[2]);
            inside += want;
            ASSERT_EQ(distance < 0, want) << known.name << " at " << p[0] << " " << p[1];
            ASSERT_EQ(geometry.contains(p), want) << known.name;
            ASSERT_FALSE(geometry.on_boundary(p)) << known.name;
        }
        EXPECT_GT(inside, 1000) << known.name;
    }
}

TEST(Geometry, BoundingBoxHoldsTheGeometryTightly) {
    for (const GeometryCase& known : geometry_cases()) {
        if (known.name == "lens" || known.name.find("flush third") != std::string::npos ||
            known.name.find("half ring") != std::string::npos)
            continue;  // of intersections and differences it is only a bound
        const Box& box = known.geometry->bounding_box();
        const auto values = sobol_points({1}, scaled(box, 1.2), 1 << 16).to_vector<double>();
        for (std::size_t k = 0; k < box.lower.size(); ++k) {
            double lowest = INFINITY, highest = -INFINITY;
            for (std::size_t i = 0; i < 1 << 16; ++i) {
                const Point p = point_of(values, i, box.dims(), box.dims());
                if (!known.is_inside(p[0], p[1], p[2])) continue;
                lowest = std::min(lowest, p[k]);
                highest = std::max(highest, p[k]);
            }
            const double width = box.upper[k] - box.lower[k];
            EXPECT_NEAR(lowest, box.lower[k], 0.03 * width) << known.name;
            EXPECT_NEAR(highest, box.upper[k], 0.03 * width) << known.name;
            EXPECT_GE(lowest, box.lower[k]);
            EXPECT_LE(highest, box.upper[k]);
        }
    }
}

// A primitive's distance is the way to the nearest of many points of its boundary.
TEST(Geometry, DistancesOfPrimitivesAreExact) {
    for (const GeometryCase& known : geometry_cases()) {
        const Geometry& geometry = *known.geometry;
        std::vector<const Geometry*> primitives;
        geometry.append_primitives(primitives);
        if (primitives.size() > 1 || geometry.dims() > 2) continue;
        std::vector<Point> boundary;
        for (int i = 0; i <= 20000; ++i)
            boundary.push_back(geometry.boundary_at({i / 20000.0, 0})->point);
        const Box around = scaled(geometry.bounding_box(), 1.5);
        const auto values = sobol_points({1}, around, 200).to_vector<double>();
        for (std::size_t i = 0; i < 200; ++i) {
            const Point p = point_of(values, i, geometry.dims(), geometry.dims());
            double nearest = INFINITY;
            for (const Point& b : boundary)
                nearest = std::min(nearest, std::hypot(p[0] - b[0], p[1] - b[1]));
            EXPECT_NEAR(std::abs(geometry.signed_distance(p)), nearest,
                        known.boundary_measure / 20000)
                << known.name;
        }
    }
    EXPECT_DOUBLE_EQ(box({0, 0, 0}, {1, 1, 1})->signed_distance({2, 3, -2}), 3);
    EXPECT_DOUBLE_EQ(box({0, 0, 0}, {1, 1, 1})->signed_distance({0.5, 0.4, 0.9}), -0.1);
    EXPECT_DOUBLE_EQ(make_ball({0, 0, 1}, 2)->signed_distance({2, 0, 1 + std::sqrt(5)}), 1);
}

TEST(Geometry, BoundaryMeasure) {
    for (const GeometryCase& known : geometry_cases()) {
        std::vector<const Geometry*> primitives;
        known.geometry->append_primitives(primitives);
        EXPECT_NEAR(known.geometry->boundary_measure(), known.boundary_measure,
                    (primitives.size() == 1 ? 1e-14 : 1e-3) * known.boundary_measure)
            << known.name;
    }
}

TEST(Geometry, WhereBoundariesCoincideTheWholeDecides) {
    const auto square = box({0, 0}, {1, 1});
    const auto pair = make_union({square, box({1, 0}, {2, 1})});
    EXPECT_TRUE(pair->contains({1, 0.5, 0}));
    EXPECT_FALSE(pair->on_boundary({1, 0.5, 0}));
    EXPECT_TRUE(pair->on_boundary({1, 1, 0}));
    const auto cut = make_difference({square, box({0.5, 0}, {1, 0.5})});
    EXPECT_FALSE(cut->contains({1, 0.25, 0}));
    EXPECT_FALSE(cut->on_boundary({1, 0.25, 0}));
    EXPECT_TRUE(cut->contains({1, 0.75, 0}));
    EXPECT_TRUE(cut->on_boundary({0.5, 0.25, 0}));
    EXPECT_TRUE(cut->contains({0.5, 0.5, 0}));  // the corner that points inwards
    EXPECT_TRUE(cut->on_boundary({0.5, 0.5, 0}));
    EXPECT_TRUE(cut->on_boundary({0.5, 0, 0}));
    // A cut that is filled again leaves no trace.
    const auto whole = make_union({cut, box({0.5, 0}, {1, 0.5})});
    EXPECT_TRUE(whole->contains({0.5, 0.25, 0}));
    EXPECT_FALSE(whole->on_boundary({0.5, 0.25, 0}));
    EXPECT_NEAR(whole->boundary_measure(), 4, 1e-3);
    const auto line = make_union({box({0}, {1}), box({1}, {3})});
    EXPECT_TRUE(line->contains({1, 0, 0}));
    EXPECT_FALSE(line->on_boundary({1, 0, 0}));
    const auto cubes = make_union({box({0, 0, 0}, {1, 1, 1}), box({1, 0, 0}, {2, 1, 1})});
    EXPECT_FALSE(cubes->on_boundary({1, 0.5, 0.5}));
    EXPECT_TRUE(cubes->on_boundary({1, 0.5, 1}));
    EXPECT_NEAR(cubes->boundary_measure(), 10, 0.01);
}

TEST(Geometry, RefuseWhatHasNoInterior) {
    const auto square = box({0, 0}, {1, 1});
    const auto text = [](auto&& make) { return error_of(make).text; };
    EXPECT_EQ(text([] {
                  box({0, 1}, {1, 1});
              }),
              "box: [1, 1] is not an interval of positive length (axis 1)");
    EXPECT_EQ(text([] { box({2}, {1}); }),
              "box: [2, 1] is not an interval of positive length (axis 0)");
    EXPECT_NE(text([] { box({0}, {INFINITY}); }), "");
    EXPECT_NE(text([] { box({NAN}, {1}); }), "");
    EXPECT_EQ(text([] { box({}, {}); }),
              "box: one to three axes, each with a lower and an upper bound, not 0 and 0 bounds");
    EXPECT_NE(text([] { box({0, 0, 0, 0}, {1, 1, 1, 1}); }), "");
    EXPECT_NE(text([] { box({0, 0}, {1}); }), "");
    EXPECT_EQ(text([] { box({1000}, {1000.001}); }),
              "box: [1000, 1000.001] (axis 0) is too thin beside a coordinate of 1000.001; rescale "
              "the axes");
    EXPECT_EQ(text([] { make_ball({0, 0}, 0); }), "ball: radius 0 is not a positive number");
    EXPECT_NE(text([] { make_ball({0, 0}, -1); }), "");
    EXPECT_NE(text([] { make_ball({0, 0}, NAN); }), "");
    EXPECT_NE(text([] { make_ball({NAN, 0}, 1); }), "");
    EXPECT_EQ(text([] { make_ball({0}, 1); }),
              "ball: a center has two or three coordinates, not 1");
    EXPECT_EQ(text([] { make_union({}); }), "union: it has no parts");
    EXPECT_EQ(text([&] {
                  make_union({square, make_ball({0, 0, 0}, 1)});
              }),
              "union: parts with 2 and 3 axes cannot be combined");
    EXPECT_EQ(text([&] {
                  make_intersection({square, box({2, 0}, {3, 1})});
              }),
              "intersection: nothing is left, its parts do not overlap");
    // Their boxes overlap, they do not; or share an edge, a corner.
    EXPECT_EQ(text([] {
                  make_intersection({make_ball({0, 0}, 1), make_ball({1.5, 1.5}, 1)});
              }),
              "intersection: nothing is left of its parts");
    EXPECT_NE(text([&] { make_intersection({square, box({1, 0}, {2, 1})}); }), "");
    EXPECT_NE(text([&] {
                  make_intersection(
                      {square, make_polygon({{0, 1}, {1, 1}, {1, 2}, {-1, 2}, {-1, -1}, {0, -1}})});
              }),
              "");
    const std::string nothing = "difference: nothing is left of its parts";
    EXPECT_EQ(text([&] { make_difference({square, make_ball({0.5, 0.5}, 2)}); }), nothing);
    EXPECT_EQ(text([&] { make_difference({square, square}); }), nothing);
    EXPECT_EQ(text([&] {
                  make_difference({square, box({0, 0}, {0.5, 1}), box({0.5, 0}, {1, 1})});
              }),
              nothing);
    EXPECT_EQ(text([] { make_difference({box({0}, {1}), box({-1}, {2})}); }), nothing);
    // What is left is small, but there.
    EXPECT_NEAR(make_difference({box({0}, {1}), box({0}, {0.9999})})->boundary_measure(), 2, 0);
    EXPECT_NEAR(make_difference({square, box({0, 0}, {1, 0.999})})->boundary_measure(), 2.002,
                1e-3);
}

TEST(Polygon, RefusesWhatIsNotSimple) {
    EXPECT_EQ(polygon_problem({{0, 0}, {2, 0}, {2, 1}, {0, 1}}), "");
    EXPECT_EQ(polygon_problem({{0, 0}, {1, 0}, {2, 0}, {1, 1}}), "");  // a vertex on an edge's line
    EXPECT_EQ(polygon_problem({}), "has 0 vertices, at least 3 are needed");
    EXPECT_EQ(polygon_problem({{0, 0}, {1, 1}}), "has 2 vertices, at least 3 are needed");
    EXPECT_EQ(polygon_problem({{0, 0}, {1, 0}, {NAN, 1}}), "[nan, 1] is not a vertex");
    EXPECT_EQ(polygon_problem({{0, 0}, {1, 0}, {1, 1}, {0, 0}}),
              "vertices 3 and 0 are the same: [0, 0]");
    EXPECT_EQ(polygon_problem({{0, 0}, {1, 1}, {1, 0}, {0, 1}}),
              "crosses or touches itself: its edges from vertices 0 and 2");
    // A vertex on another edge.
    EXPECT_EQ(polygon_problem({{0, 0}, {4, 0}, {4, 2}, {2, 0}, {0, 2}}),
              "crosses or touches itself: its edges from vertices 0 and 2");
    EXPECT_EQ(polygon_problem({{0, 0}, {1, 0}, {2, 0}}), "has no area");
    // Edges that run back over the one before.
    EXPECT_EQ(polygon_problem({{0, 0}, {2, 0}, {2, 2}, {2, 1}}),
              "crosses or touches itself: its edges from vertices 1 and 3");
    EXPECT_EQ(polygon_problem({{0, 0}, {2, 0}, {-1, 0}, {-1, 2}}),
              "crosses or touches itself: its edges from vertices 1 and 3");
    EXPECT_EQ(error_of([] {
                  make_polygon({{0, 0}, {1, 1}});
              }).text,
              "polygon: has 2 vertices, at least 3 are needed");
}

}  // namespace
}  // namespace ralimp
