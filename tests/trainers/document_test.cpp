#include "trainers/document.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

TEST(Document, Markdown) {
    const Document document{
        "a_b | c",
        {DocumentHeading{"Part <1>", 2}, DocumentText{"some *text*"},
         DocumentList{{"one", "[two]"}}, DocumentTable{{"x", "y"}, {{"1|2", "3"}}},
         DocumentPictures{{{"p q.png", "picture"}}}}};
    EXPECT_EQ(to_markdown(document),
              "# a\\_b \\| c\n\n## Part &lt;1>\n\nsome \\*text\\*\n\n* one\n* \\[two\\]\n\n"
              "| x | y |\n|---|---:|\n| 1\\|2 | 3 |\n\n![picture](<p q.png>)\n\n");
}

TEST(Document, HtmlIsOneFile) {
    const TemporaryFolder folder;
    // RFC 4648, section 10.
    const std::pair<const char*, const char*> vectors[] = {
        {"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : vectors) {
        folder.write("x.png", bytes);
        const std::string html =
            to_html({"<&\">", {DocumentPictures{{{"x.png", "\"a\" < b"}}}}}, folder.path());
        EXPECT_NE(html.find("<title>&lt;&amp;&quot;&gt;</title>"), std::string::npos);
        EXPECT_NE(html.find("<img alt=\"&quot;a&quot; &lt; b\" src=\"data:image/png;base64," +
                            std::string(text) + "\">"),
                  std::string::npos)
            << html;
    }
    EXPECT_EQ(error_of([&] {
                  to_html({"x", {DocumentPictures{{{"no.png", ""}}}}}, folder.path());
              }).code,
              ExitCode::bad_input);
}

TEST(Document, RowsOfCsv) {
    EXPECT_EQ(csv_row({"a", "", "1.5"}), "a,,1.5\n");
    EXPECT_EQ(csv_row({"", "a,b", "say \"x\"", "two\nlines"}),
              ",\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

}  // namespace
}  // namespace ralimp
