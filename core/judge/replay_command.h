#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace mantissa {

/// "mantissa replay NAME --step 144": what a person types, a run of the default folder by its name, another one by its whole path.
[[nodiscard]] std::string replay_command(const std::filesystem::path& run, std::int64_t step);

}  // namespace mantissa
