// A report of headings, texts, tables and pictures, as Markdown and as one HTML file.
#pragma once
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace ralimp {

struct DocumentHeading {
    std::string text;
    int level = 1;
};
struct DocumentText {
    std::string text;
};
struct DocumentList {
    std::vector<std::string> items;
};
struct DocumentTable {
    std::vector<std::string> columns;  // all but the first are aligned to the right
    std::vector<std::vector<std::string>> rows;
};
// PNG files beside each other, each with a caption; paths are relative to the document's folder.
struct DocumentPictures {
    struct Picture {
        std::string path, caption;
    };
    std::vector<Picture> pictures;
};
using DocumentPart =
    std::variant<DocumentHeading, DocumentText, DocumentList, DocumentTable, DocumentPictures>;

struct Document {
    std::string title;
    std::vector<DocumentPart> parts;
};

// Pictures are links.
std::string to_markdown(const Document& document);
// Pictures are part of the text, which needs no other file. Error as read_file for one that cannot
// be read.
std::string to_html(const Document& document, const std::filesystem::path& folder);

// Rows of fields as RFC 4180 has them: quoted where they hold a comma, a quote or a line break.
std::string csv_row(const std::vector<std::string>& fields);

}  // namespace ralimp
