// Every row of the operation table, on the device of the program.
#include <gtest/gtest.h>

#include "core/error.h"
#include "operation_checks.h"

namespace ralimp::testing {
namespace {

class OperationTable : public ::testing::TestWithParam<std::size_t> {
protected:
    // A row that needs a kernel which the device does not have is skipped, not passed.
    void run(void (*check_row)(const Row&, Device)) {
        try {
            check_row(operation_table()[GetParam()], operation_device());
        } catch (const Error& error) {
            if (std::string(error.what()).find("not on cuda yet") == std::string::npos) throw;
            GTEST_SKIP() << error.what();
        }
    }
};

TEST_P(OperationTable, Values) { run(check_values); }
TEST_P(OperationTable, Views) { run(check_views); }
TEST_P(OperationTable, Gradients) { run(check_gradients); }
TEST_P(OperationTable, SecondGradients) { run(check_second_gradients); }
TEST_P(OperationTable, Repeatable) { run(check_repeatable); }

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

INSTANTIATE_TEST_SUITE_P(Each, OperationTable,
                         ::testing::Range<std::size_t>(0, operation_table().size()), test_name);

}  // namespace
}  // namespace ralimp::testing
