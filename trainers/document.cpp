#include "trainers/document.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/file.h"

namespace ralimp {
namespace {

std::string replaced(const std::string& text,
                     const std::vector<std::pair<char, const char*>>& replacements) {
    std::string result;
    for (const char c : text) {
        const char* replacement = nullptr;
        for (const auto& [from, to] : replacements)
            if (c == from) replacement = to;
        if (replacement)
            result += replacement;
        else
            result += c;
    }
    return result;
}

std::string html_text(const std::string& text) {
    return replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

// What Markdown would take for its own.
std::string markdown_text(const std::string& text) {
    return replaced(text, {{'\\', "\\\\"},
                           {'|', "\\|"},
                           {'*', "\\*"},
                           {'_', "\\_"},
                           {'`', "\\`"},
                           {'<', "&lt;"},
                           {'[', "\\["},
                           {']', "\\]"},
                           {'\n', " "}});
}

// RFC 4648.
std::string base64(const std::vector<uint8_t>& bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t k) { return i + k < bytes.size() ? bytes[i + k] : 0u; };
        const uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (std::size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

struct MarkdownWriter {
    std::string text;

    void operator()(const DocumentHeading& heading) {
        text += fmt::format("{:#<{}} {}\n\n", "", heading.level, markdown_text(heading.text));
    }
    void operator()(const DocumentText& part) { text += markdown_text(part.text) + "\n\n"; }
    void operator()(const DocumentList& list) {
        for (const std::string& item : list.items) text += "* " + markdown_text(item) + "\n";
        text += "\n";
    }
    void operator()(const DocumentTable& table) {
        write_row(table.columns);
        text += "|";
        for (std::size_t i = 0; i < table.columns.size(); ++i) text += i == 0 ? "---|" : "---:|";
        text += "\n";
        for (const auto& row : table.rows) write_row(row);
        text += "\n";
    }
    void operator()(const DocumentPictures& pictures) {
        for (const auto& [path, caption] : pictures.pictures)
            text += fmt::format("![{}](<{}>)\n", markdown_text(caption), path);
        text += "\n";
    }
    void write_row(const std::vector<std::string>& fields) {
        text += "|";
        for (const std::string& field : fields) text += " " + markdown_text(field) + " |";
        text += "\n";
    }
};

struct HtmlWriter {
    const std::filesystem::path& folder;
    std::string text;

    void operator()(const DocumentHeading& heading) {
        text += fmt::format("<h{0}>{1}</h{0}>\n", heading.level, html_text(heading.text));
    }
    void operator()(const DocumentText& part) {
        text += fmt::format("<p>{}</p>\n", html_text(part.text));
    }
    void operator()(const DocumentList& list) {
        text += "<ul>\n";
        for (const std::string& item : list.items)
            text += fmt::format("<li>{}</li>\n", html_text(item));
        text += "</ul>\n";
    }
    void operator()(const DocumentTable& table) {
        text += "<table>\n";
        write_row(table.columns, "th");
        for (const auto& row : table.rows) write_row(row, "td");
        text += "</table>\n";
    }
    void operator()(const DocumentPictures& pictures) {
        text += "<div class=\"pictures\">\n";
        for (const auto& [path, caption] : pictures.pictures)
            text += fmt::format(
                "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption>{0}"
                "</figcaption></figure>\n",
                html_text(caption), base64(read_file((folder / path).string())));
        text += "</div>\n";
    }
    void write_row(const std::vector<std::string>& fields, const char* cell) {
        text += "<tr>";
        for (const std::string& field : fields)
            text += fmt::format("<{0}>{1}</{0}>", cell, html_text(field));
        text += "</tr>\n";
    }
};

constexpr const char* html_start = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #1b1b1b; margin: 2em auto; max-width: 76em; padding: 0 1em; }}
table {{ border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto; }}
th, td {{ padding: .3em .8em; border-bottom: 1px solid #ddd; text-align: right; font-variant-numeric: tabular-nums; }}
th {{ border-bottom: 2px solid #888; vertical-align: bottom; }}
th:first-child, td:first-child {{ text-align: left; }}
.pictures {{ display: flex; flex-wrap: wrap; gap: 1em; }}
figure {{ margin: 0; max-width: 100%; }}
img {{ max-width: 100%; height: auto; display: block; }}
figcaption {{ color: #555; font-size: 90%; }}
</style></head><body>
)";

}  // namespace

std::string to_markdown(const Document& document) {
    MarkdownWriter writer{fmt::format("# {}\n\n", markdown_text(document.title))};
    for (const DocumentPart& part : document.parts) std::visit(writer, part);
    return writer.text;
}

std::string to_html(const Document& document, const std::filesystem::path& folder) {
    const std::string title = html_text(document.title);
    HtmlWriter writer{
        folder, fmt::format(fmt::runtime(html_start), title) + fmt::format("<h1>{}</h1>\n", title)};
    for (const DocumentPart& part : document.parts) std::visit(writer, part);
    return writer.text + "</body></html>\n";
}

std::string csv_row(const std::vector<std::string>& fields) {
    std::string row;
    for (const std::string& field : fields) {
        if (!row.empty() || &field != &fields.front()) row += ",";
        if (field.find_first_of(",\"\r\n") == std::string::npos)
            row += field;
        else
            row += "\"" + replaced(field, {{'"', "\"\""}}) + "\"";
    }
    return row + "\n";
}

}  // namespace ralimp
