#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::cli {

/// Rows of texts as aligned columns. Widths count characters, not bytes; numbers are told to the right by the
/// caller.
class Table {
  public:
    enum class Align { Left, Right };
    void add_column(std::string title, Align align = Align::Left);
    void add_row(std::vector<std::string> cells);
    [[nodiscard]] std::string text() const;  // ends with a line break

  private:
    std::vector<std::string> m_titles;
    std::vector<Align> m_aligns;
    std::vector<std::vector<std::string>> m_rows;
};

/// Text broken at spaces to `width` columns, each line with `indent` spaces before it. Ends with a line
/// break.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);
/// Both as lines of the result; the text in the width that all texts have, its first line led by `lead` within the indent.
void print_table(const Table& table);
void print_wrapped(const std::string& text, std::size_t indent = 0, std::string_view lead = "");
inline constexpr std::size_t text_width = 100;
/// Columns of a text on a terminal: characters of CJK scripts take two.
[[nodiscard]] std::size_t columns_of(const std::string& text);

}  // namespace mantissa::cli
