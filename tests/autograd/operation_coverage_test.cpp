// Every operation that autograd/operations.h declares, and every functor of core/scalar.h, has a
// row in the table.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/scalar.h"
#include "operation_table.h"

namespace ralimp::testing {
namespace {

// The header without comments, in one line.
std::string header_text() {
    std::ifstream file(std::string(SOURCE_DIR) + "/autograd/operations.h");
    std::string text, line;
    while (std::getline(file, line)) text += line.substr(0, line.find("//")) + " ";
    return text;
}

// "const Tensor& a" -> "Tensor"
std::string type_of_parameter(const std::string& parameter) {
    std::istringstream words(parameter);
    std::string word;
    while (words >> word)
        if (word != "const") break;
    while (!word.empty() && word.back() == '&') word.pop_back();
    return word;
}

// "const Tensor& a, double b = 0" -> "Tensor, double"
std::string parameter_types(const std::string& parameters) {
    std::string result;
    std::istringstream list(parameters);
    for (std::string parameter; std::getline(list, parameter, ',');)
        result += (result.empty() ? "" : ", ") + type_of_parameter(parameter);
    return result;
}

// name -> its overloads' parameter types. A declaration reads "Tensor name(parameters)".
std::map<std::string, std::vector<std::string>> declared_operations() {
    const std::string text = header_text();
    std::map<std::string, std::vector<std::string>> result;
    for (const std::string result_type : {" Tensor ", " Tensors "})
        for (std::size_t at = text.find(result_type); at != std::string::npos;
             at = text.find(result_type, at + 1)) {
            const std::size_t name = at + result_type.size(), open = text.find('(', name);
            const std::size_t close = text.find(')', open);
            result[text.substr(name, open - name)].push_back(
                parameter_types(text.substr(open + 1, close - open - 1)));
        }
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
