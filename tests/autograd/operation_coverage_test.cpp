// Every operation that autograd/operations.h declares, and every functor of core/scalar.h, has a
// row in the table.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/scalar.h"
#include "operation_table.h"

namespace ralimp::testing {
namespace {

std::string header_text() {
    std::ifstream file(std::string(SOURCE_DIR) + "/autograd/operations.h");
    std::ostringstream text;
    text << file.rdbuf();
    return std::regex_replace(text.str(), std::regex("//[^\n]*"), "");
}

// "const Tensor& a, double b = 0" -> "Tensor, double"
std::string parameter_types(const std::string& parameters) {
    std::string result, current;
    int depth = 0;
    const auto finish = [&] {
        current = std::regex_replace(current, std::regex("=.*"), "");
        current = std::regex_replace(current, std::regex("\\bconst\\b|&"), "");
        std::smatch match;
        std::regex_search(current, match, std::regex("^\\s*(\\S+)"));
        result += (result.empty() ? "" : ", ") + match[1].str();
        current.clear();
    };
    for (char c : parameters) {
        depth += (c == '<') - (c == '>');
        if (c == ',' && depth == 0)
            finish();
        else
            current += c == '\n' ? ' ' : c;
    }
    finish();
    return result;
}

// name -> its overloads' parameter types
std::map<std::string, std::vector<std::string>> declared_operations() {
    const std::string text = header_text();
    const std::regex declaration("\\bTensors? ([a-z_0-9]+|operator.)\\(([^)]*)\\)");
    std::map<std::string, std::vector<std::string>> result;
    for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it)
        result[(*it)[1]].push_back(parameter_types((*it)[2]));
    return result;
}

std::set<std::string> row_names() {
    std::set<std::string> names;
    for (const Row& row : operation_table()) names.insert(row.name);
    return names;
}

TEST(OperationCoverage, TheHeaderIsRead) {
    const auto operations = declared_operations();
    EXPECT_GT(operations.size(), 70u);
    EXPECT_EQ(operations.at("pow"), (std::vector<std::string>{"Tensor, double", "Tensor, Tensor"}));
    EXPECT_EQ(operations.at("slice")[0], "Tensor, int64_t, int64_t, int64_t, int64_t");
    EXPECT_EQ(operations.at("split")[0], "Tensor, std::vector<int64_t>, int64_t");
    EXPECT_EQ(operations.at("operator-").size(), 4u);
}

TEST(OperationCoverage, EveryDeclaredOperationHasARow) {
    const std::set<std::string> rows = row_names();
    for (const auto& [name, overloads] : declared_operations())
        for (const std::string& types : overloads) {
            const std::string wanted = overloads.size() == 1 ? name : name + "(" + types + ")";
            EXPECT_TRUE(rows.count(wanted))
                << "add a row named \"" << wanted << "\" to tests/autograd/rows_*.cpp";
        }
}

TEST(OperationCoverage, EveryRowHasAnOperation) {
    std::set<std::string> declared;
    for (const auto& [name, overloads] : declared_operations())
        for (const std::string& types : overloads)
            declared.insert(overloads.size() == 1 ? name : name + "(" + types + ")");
    EXPECT_EQ(row_names().size(), operation_table().size()) << "two rows have one name";
    for (const Row& row : operation_table()) {
        EXPECT_TRUE(declared.count(row.name)) << row.name << " is not declared";
        EXPECT_FALSE(row.cases.empty()) << row.name;
    }
}

template <class... Ops>
std::vector<std::string> names_of(List<Ops...>) {
    return {Ops::name...};
}

TEST(OperationCoverage, EveryFunctorHasARow) {
    const std::set<std::string> rows = row_names();
    for (const auto& list :
         {names_of(scalar::Unary{}), names_of(scalar::Binary{}), names_of(scalar::Compare{})})
        for (const std::string& name : list)
            EXPECT_TRUE(rows.count(name == "power" ? "pow(Tensor, Tensor)" : name)) << name;
}

}  // namespace
}  // namespace ralimp::testing
