#include "table.h"

#include <algorithm>

#include "base/assert.h"

namespace mantissa::cli {
namespace {

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<Table::Align>& aligns) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string gap(widths[i] - columns_of(cells[i]), ' ');
        line += (i == 0 ? "" : "  ") + (aligns[i] == Table::Align::Right ? gap + cells[i] : cells[i] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

}  // namespace

std::size_t columns_of(const std::string& text) {
    std::size_t columns = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0) == 0x80) continue;
        // Leads E3..ED begin the wide scripts, EF the full-width forms.
        columns += (byte >= 0xE3 && byte <= 0xED) || byte == 0xEF ? 2 : 1;
    }
    return columns;
}

void Table::add_column(std::string title, Align align) {
    m_titles.push_back(std::move(title));
    m_aligns.push_back(align);
}

void Table::add_row(std::vector<std::string> cells) {
    MANTISSA_ASSERT(cells.size() == m_titles.size());
    m_rows.push_back(std::move(cells));
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < m_titles.size(); ++i) {
        std::size_t width = columns_of(m_titles[i]);
        for (const auto& row : m_rows) width = std::max(width, columns_of(row[i]));
        widths.push_back(width);
    }
    std::string text = line_of(m_titles, widths, m_aligns);
    for (const auto& row : m_rows) text += line_of(row, widths, m_aligns);
    return text;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
    const std::string margin(indent, ' ');
    std::string result, line;
    std::size_t start = 0;
    while (start <= text.size()) {
        auto space = text.find(' ', start);
        if (space == std::string::npos) space = text.size();
        const std::string word = text.substr(start, space - start);
        if (!line.empty() && columns_of(line) + 1 + columns_of(word) + indent > width) {
            result += margin + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        start = space + 1;
    }
    return result + margin + line + "\n";
}

}  // namespace mantissa::cli
