#include "table.h"

#include <algorithm>

#include "base/assert.h"
#include "output.h"

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

/// What stays on one line: a word, or a character of a script that is written without spaces.
struct Piece {
    std::string text;
    bool after_space = false;
};

bool is_wide(const std::string& character) { return columns_of(character) == 2; }

/// Punctuation that must not begin a line, and such that must not end one.
bool closes(const std::string& character) {
    static const std::string marks = "，。；：、！？）”’》」";
    return is_wide(character) ? marks.find(character) != std::string::npos : character == "”" || character == "’";
}
bool opens(const std::string& character) { return character == "（" || character == "“" || character == "‘" || character == "《" || character == "「"; }

std::vector<Piece> pieces_of(const std::string& text) {
    std::vector<Piece> pieces;
    std::string before;
    bool is_after_space = false;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t next = at + 1;
        while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
        const std::string character = text.substr(at, next - at);
        at = next;
        if (character == " ") {
            is_after_space = true;
            continue;
        }
        const bool may_break = is_after_space || ((is_wide(before) || is_wide(character)) && !closes(character) && !opens(before));
        if (pieces.empty() || may_break) pieces.push_back({"", is_after_space && !pieces.empty()});
        pieces.back().text += character;
        before = character;
        is_after_space = false;
    }
    return pieces;
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
    for (const Piece& piece : pieces_of(text)) {
        const std::size_t gap = piece.after_space ? 1 : 0;
        if (!line.empty() && columns_of(line) + gap + columns_of(piece.text) + indent > width) {
            result += margin + line + "\n";
            line.clear();
        }
        line += (line.empty() || gap == 0 ? "" : " ") + piece.text;
    }
    return result + margin + line + "\n";
}

void print_table(const Table& table) {
    std::string text = table.text();
    text.pop_back();
    print(text);
}

void print_wrapped(const std::string& text, std::size_t indent, std::string_view lead) {
    std::string lines = wrapped(text, text_width, indent);
    lines.pop_back();
    print(lines.replace(0, std::min(indent, lead.size()), lead));
}

}  // namespace mantissa::cli
