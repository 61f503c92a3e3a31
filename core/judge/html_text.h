#pragma once
// The few pieces of HTML that the report is made of. Everything that comes from a recording goes through
// `escaped`.
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::html {

/// & < > " ' as entities; control characters that HTML forbids become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);
/// <name class="…">inner</name>; `inner` is HTML already.
[[nodiscard]] std::string element(std::string_view name, std::string_view inner,
                                  std::string_view css_class = {});
[[nodiscard]] std::string text_element(std::string_view name, std::string_view text,
                                       std::string_view css_class = {});

struct Cell {
    std::string text;  // plain, escaped when written
    std::string css_class;
};

/// A table with a head; cells are plain text. `head_classes`, if given, is as long as the head.
[[nodiscard]] std::string table(const std::vector<std::string>& head,
                                const std::vector<std::vector<Cell>>& rows,
                                const std::vector<std::string>& head_classes = {});
[[nodiscard]] std::string list(const std::vector<std::string>& items);
[[nodiscard]] std::string section(std::string_view title, std::string_view inner);

}  // namespace mantissa::html
