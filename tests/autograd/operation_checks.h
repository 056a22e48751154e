// The checks that every row of the operation table passes, on any device.
#pragma once
#include "operation_table.h"

namespace ralimp::testing {

// The device that the rows are run on: each program with operation_table_test.cpp defines it.
Device operation_device();

// The values of a case in float32 and float64, and exactly in int32 and int64 where the row says
// so, against the reference.
void check_values(const Row& row, Device device);
// The same with inputs that are transposed, stepped and expanded views, and the gradients of those
// against the gradients of row-major inputs.
void check_views(const Row& row, Device device);
// First and second derivatives against differences, on the cases that are small enough.
void check_gradients(const Row& row, Device device);
void check_second_gradients(const Row& row, Device device);
// The same bits when run twice, with one thread and with two.
void check_repeatable(const Row& row, Device device);

}  // namespace ralimp::testing
