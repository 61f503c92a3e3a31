#pragma once
#include <optional>
#include <string_view>

namespace mantissa {

/// y yes t true on 1 / n no f false off 0, any case (accelerate's str_to_bool).
[[nodiscard]] std::optional<bool> parse_accelerate_switch(std::string_view text);

}  // namespace mantissa
