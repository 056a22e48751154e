// CSV files of numbers: what is read, and every kind of bad file.
#include "data/number_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace ralimp {
namespace {

class NumberTableFile : public testing::Test {
protected:
    NumberTable read(const std::string& text, const std::vector<std::string>& names = {}) {
        std::ofstream(path_, std::ios::binary) << text;
        return read_number_table(path_, names);
    }
    std::string complaint(const std::string& text, const std::vector<std::string>& names = {}) {
        try {
            read(text, names);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::bad_input);
            return error.what();
        }
        return "";
    }
    void TearDown() override { std::filesystem::remove(path_); }

    std::string path_ = testing::TempDir() + "number_table_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
};

TEST_F(NumberTableFile, NumbersAndNames) {
    const NumberTable table =
        read("# measured\nx, t ,u\r\n\n0.5,1,-2e-3\r\n+.25 ,\t2, 1E2\n  # a comment\n3,4,5");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"x", "t", "u"}));
    EXPECT_EQ(table.values.shape(), (Shape{3, 3}));
    EXPECT_EQ(table.values.to_vector<double>(),
              (std::vector<double>{0.5, 1, -2e-3, .25, 2, 1e2, 3, 4, 5}));
}

TEST_F(NumberTableFile, AByteOrderMarkIsNoPartOfAName) {
    EXPECT_EQ(read("\xEF\xBB\xBFx,u\n1,2\n").columns, (std::vector<std::string>{"x", "u"}));
}

TEST_F(NumberTableFile, OnlyTheNamedColumnsMustBeNumbers) {
    const std::string bad[] = {"residual", "", "nan", "1e999", "-", "1 2", "\"a\""};
    for (const std::string& text : bad) {
        const std::string file = "name,x,more,t\n" + text + ",1,2,3\n4,5," + text + ",6\n";
        const NumberTable table = read(file, {"t", "x"});
        EXPECT_EQ(table.columns, (std::vector<std::string>{"t", "x"}));
        EXPECT_EQ(table.values.shape(), (Shape{2, 2}));
        EXPECT_EQ(table.values.to_vector<double>(), (std::vector<double>{3, 1, 6, 5})) << text;
        EXPECT_EQ(complaint(file, {"x", "more"}), path_ + ":3: '" + text + "' is no finite number");
        EXPECT_EQ(complaint(file, {"name"}), path_ + ":2: '" + text + "' is no finite number");
    }
    EXPECT_EQ(complaint("x,t\n1,2\n", {"y", "t", "z"}),
              path_ + ": has no column y, z; it has x, t");
    // Rows must be whole all the same.
    EXPECT_NE(complaint("x,t\n1\n", {"x"}).find(":2: 1 entries for 2 columns"), std::string::npos);
    EXPECT_NE(complaint("x,t\n", {"x"}).find("no row"), std::string::npos);
}

TEST_F(NumberTableFile, BadFiles) {
    EXPECT_NE(complaint("").find("no row"), std::string::npos);
    EXPECT_NE(complaint("x,u\n").find("no row"), std::string::npos);
    EXPECT_NE(complaint("x,x\n1,2\n").find(":1: column 'x' stands twice"), std::string::npos);
    EXPECT_NE(complaint("x,,u\n1,2,3\n").find(":1: column '' has no name"), std::string::npos);
    EXPECT_NE(complaint("x,u\n1,2\n1\n").find(":3: 1 entries for 2 columns"), std::string::npos);
    EXPECT_NE(complaint("x,u\n1,2,3\n").find(":2: 3 entries for 2 columns"), std::string::npos);
    for (const char* text : {"x;u\n1;2\n", "x;u\n1,5;2\n"})
        EXPECT_NE(complaint(text).find(":1: the separator is ';'; write the file with commas"),
                  std::string::npos)
            << complaint(text);
    for (const char* bad : {"a", "1x", "", "nan", "inf", "1e999", "0x10", "1 2", "--1", "+-1"})
        EXPECT_NE(complaint(std::string("x,u\n1,") + bad + "\n").find("is no finite number"),
                  std::string::npos)
            << bad;
    EXPECT_THROW(read_number_table("/nowhere/at.csv"), Error);
    EXPECT_THROW(read_number_table("/"), Error);
}

}  // namespace
}  // namespace ralimp
