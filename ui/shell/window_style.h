#pragma once
// Style rules of the window's frame and of Set up, in the colours of the theme: what Theme::styleSheet (any
// widget) doesn't say.
#include <QString>

namespace mantissa::ui {

struct ThemeColours;

[[nodiscard]] QString windowStyle(const ThemeColours& colours);

}  // namespace mantissa::ui
