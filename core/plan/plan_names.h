#pragma once
// Spellings of the plan's enumerations, as in plan files and on the command line. Reading takes `-` for `_`.
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "plan/run_plan.h"

namespace mantissa {

[[nodiscard]] const char* to_string(TargetWish value);               // auto classes values
[[nodiscard]] const char* to_string(TableHeader value);              // auto names none
[[nodiscard]] const char* to_string(MissingRule value);              // refuse drop mean
[[nodiscard]] const char* to_string(Normalise value);                // auto none unit standardise
[[nodiscard]] const char* to_string(LaunchScope value);              // thread process ranks join
[[nodiscard]] const char* to_string(ComparisonOrder value);          // turns one-by-one at-once
[[nodiscard]] const char* to_string(OptimizerImplementation value);  // exact fused
[[nodiscard]] const char* to_string(EvaluationSplit value);          // validation training
[[nodiscard]] const char* to_string(EvaluationPrecision value);      // fp32 autocast both
[[nodiscard]] const char* to_string(OnNonfinite value);              // stop pause skip mark
[[nodiscard]] const char* to_string(CpuHalf value);                  // torch fast
[[nodiscard]] const char* to_string(Tf32 value);                     // torch off on
[[nodiscard]] const char* to_string(BatchNormOnSkip value);          // restore keep
[[nodiscard]] const char* to_string(ShortWindow value);              // right_sized upstream
[[nodiscard]] const char* to_string(Compat value);                   // none accelerate

/// All values of an enumeration with their spellings, in the order shown to people.
template <typename Enumeration>
std::span<const std::pair<Enumeration, const char*>> names_of();

template <>
std::span<const std::pair<TargetWish, const char*>> names_of();
template <>
std::span<const std::pair<TableHeader, const char*>> names_of();
template <>
std::span<const std::pair<MissingRule, const char*>> names_of();
template <>
std::span<const std::pair<Normalise, const char*>> names_of();
template <>
std::span<const std::pair<LaunchScope, const char*>> names_of();
template <>
std::span<const std::pair<ComparisonOrder, const char*>> names_of();
template <>
std::span<const std::pair<OptimizerImplementation, const char*>> names_of();
template <>
std::span<const std::pair<EvaluationSplit, const char*>> names_of();
template <>
std::span<const std::pair<EvaluationPrecision, const char*>> names_of();
template <>
std::span<const std::pair<OnNonfinite, const char*>> names_of();
template <>
std::span<const std::pair<CpuHalf, const char*>> names_of();
template <>
std::span<const std::pair<Tf32, const char*>> names_of();
template <>
std::span<const std::pair<BatchNormOnSkip, const char*>> names_of();
template <>
std::span<const std::pair<ShortWindow, const char*>> names_of();
template <>
std::span<const std::pair<Compat, const char*>> names_of();

[[nodiscard]] bool same_spelling(std::string_view left, std::string_view right);  // `-` equals `_`

template <typename Enumeration>
[[nodiscard]] std::optional<Enumeration> parse_name(std::string_view text) {
    for (const auto& [value, name] : names_of<Enumeration>())
        if (same_spelling(text, name)) return value;
    return std::nullopt;
}

}  // namespace mantissa
