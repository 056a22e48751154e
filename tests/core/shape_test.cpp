#include "core/shape.h"

#include <gtest/gtest.h>

namespace ralimp {
namespace {

TEST(Shape, PrintsCountsAndCompares) {
    EXPECT_EQ(to_string(Shape{}), "[]");
    EXPECT_EQ(to_string(Shape{64, 128}), "[64, 128]");
    EXPECT_EQ(Shape{}.elements(), 1);
    EXPECT_EQ((Shape{3, 4, 5}.elements()), 60);
    EXPECT_EQ((Shape{3, 0, 5}.elements()), 0);
    EXPECT_EQ((Shape{3, 4}), (Shape{3, 4}));
    EXPECT_NE((Shape{3, 4}), (Shape{3, 4, 1}));
    EXPECT_NE((Shape{3, 4}), (Shape{4, 3}));
}

TEST(Shape, InsertsAndErases) {
    Shape shape{3, 4};
    shape.insert(0, 7);
    shape.insert(3, 9);
    shape.insert(2, 8);
    EXPECT_EQ(shape, (Shape{7, 3, 8, 4, 9}));
    shape.erase(0);
    shape.erase(3);
    EXPECT_EQ(shape, (Shape{3, 8, 4}));
    EXPECT_EQ(shape.back(), 4);
}

TEST(Shape, HoldsEightAxesAtMost) {
    Shape shape = Shape::filled(8, 1);
    EXPECT_THROW(shape.push_back(1), Error);
    EXPECT_THROW(Shape::filled(9, 1), Error);
}

TEST(Shape, RowMajorStrides) {
    EXPECT_EQ(row_major_strides({2, 3, 4}), (Shape{12, 4, 1}));
    EXPECT_EQ(row_major_strides({2, 0, 4}), (Shape{4, 4, 1}));
    EXPECT_EQ(row_major_strides({}), Shape{});
}

TEST(Shape, Broadcasts) {
    EXPECT_EQ(broadcast_shapes("add", {3, 1}, {4}), (Shape{3, 4}));
    EXPECT_EQ(broadcast_shapes("add", {}, {2, 2}), (Shape{2, 2}));
    EXPECT_EQ(broadcast_shapes("add", {0}, {1}), Shape{0});
    try {
        broadcast_shapes("add", {2, 3}, {4});
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "add: shapes [2, 3] and [4] do not broadcast: sizes 3 and 4 stand at the "
                     "same axis");
    }
    EXPECT_THROW(broadcast_shapes("add", {0}, {2}), Error);
}

TEST(Shape, NormalizesAxes) {
    EXPECT_EQ(normalize_axis("sum", -1, 3), 2);
    EXPECT_EQ(normalize_axis("sum", 0, 3), 0);
    EXPECT_THROW(normalize_axis("sum", 3, 3), Error);
    EXPECT_THROW(normalize_axis("sum", -4, 3), Error);
    EXPECT_THROW(normalize_axis("sum", 0, 0), Error);
}

}  // namespace
}  // namespace ralimp
