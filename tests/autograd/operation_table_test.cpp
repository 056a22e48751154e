// Every row of the operation table, on the CPU.
#include <gtest/gtest.h>

#include "operation_checks.h"

namespace ralimp::testing {
namespace {

class OperationTable : public ::testing::TestWithParam<std::size_t> {
protected:
    const Row& row() const { return operation_table()[GetParam()]; }
};

TEST_P(OperationTable, Values) { check_values(row(), Device{}); }
TEST_P(OperationTable, Views) { check_views(row(), Device{}); }
TEST_P(OperationTable, Gradients) { check_gradients(row(), Device{}); }
TEST_P(OperationTable, SecondGradients) { check_second_gradients(row(), Device{}); }
TEST_P(OperationTable, Repeatable) { check_repeatable(row(), Device{}); }

// operator+(Tensor, double) -> operator_add_Tensor_double
std::string test_name(const ::testing::TestParamInfo<std::size_t>& info) {
    std::string text;
    for (char c : operation_table()[info.param].name) {
        const std::string symbols = "+-*/", words[] = {"_plus", "_minus", "_times", "_by"};
        if (const auto found = symbols.find(c); found != std::string::npos)
            text += words[found];
        else if (std::isalnum(c) || c == '_')
            text += c;
        else if (c == '(' || c == ' ')
            text += '_';
    }
    return text;
}

INSTANTIATE_TEST_SUITE_P(Cpu, OperationTable,
                         ::testing::Range<std::size_t>(0, operation_table().size()), test_name);

}  // namespace
}  // namespace ralimp::testing
