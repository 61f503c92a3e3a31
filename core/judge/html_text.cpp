#include "judge/html_text.h"

namespace mantissa::html {

std::string escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (const char character : text) {
        switch (character) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default: {
                const auto code = static_cast<unsigned char>(character);
                const bool forbidden = (code < 0x20 && code != '\n' && code != '\t') || code == 0x7f;
                if (forbidden)
                    result += "\xEF\xBF\xBD";
                else
                    result += character;
            }
        }
    }
    return result;
}

std::string element(std::string_view name, std::string_view inner, std::string_view css_class) {
    std::string result = "<" + std::string(name);
    if (!css_class.empty()) result += " class=\"" + escaped(css_class) + "\"";
    return result + ">" + std::string(inner) + "</" + std::string(name) + ">";
}

std::string text_element(std::string_view name, std::string_view text, std::string_view css_class) {
    return element(name, escaped(text), css_class);
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows,
                  const std::vector<std::string>& head_classes) {
    std::string cells;
    for (std::size_t i = 0; i < head.size(); ++i) {
        const std::string css_class =
            i < head_classes.size() ? " class=\"" + escaped(head_classes[i]) + "\"" : "";
        cells += "<th scope=\"col\"" + css_class + ">" + escaped(head[i]) + "</th>";
    }
    std::string html = "<thead><tr>" + cells + "</tr></thead><tbody>";
    for (const auto& row : rows) {
        std::string line;
        for (const Cell& cell : row) line += text_element("td", cell.text, cell.css_class);
        html += "<tr>" + line + "</tr>";
    }
    return "<div class=\"scroll\"><table>" + html + "</tbody></table></div>\n";
}

std::string list(const std::vector<std::string>& items) {
    std::string html;
    for (const std::string& item : items) html += text_element("li", item);
    return "<ul>" + html + "</ul>\n";
}

std::string section(std::string_view title, std::string_view inner) {
    return "<section>" + text_element("h2", title) + "\n" + std::string(inner) + "</section>\n";
}

}  // namespace mantissa::html
