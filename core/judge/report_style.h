#pragma once
#include <string>

namespace mantissa {

/// The style sheet of the report: light, dark and print; colours by meaning, the same as in the window.
[[nodiscard]] const std::string& report_style();

}  // namespace mantissa
