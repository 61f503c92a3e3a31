#pragma once
#include <QString>
#include <string>

namespace mantissa::ui {

/// A phase of a step as the recording names it ("parameter", "forward") in the window's language; others as they are.
[[nodiscard]] QString phaseText(const std::string& phase);

}  // namespace mantissa::ui
