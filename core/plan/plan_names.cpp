#include "plan/plan_names.h"

#include <array>

#include "base/assert.h"

namespace mantissa {
namespace {

template <typename Enumeration>
using Names = std::pair<Enumeration, const char*>;

constexpr std::array<Names<TargetWish>, 3> target_names{{{TargetWish::Auto, "auto"}, {TargetWish::Classes, "classes"}, {TargetWish::Values, "values"}}};
constexpr std::array<Names<TableHeader>, 3> header_names{{{TableHeader::Auto, "auto"}, {TableHeader::Names, "names"}, {TableHeader::None, "none"}}};
constexpr std::array<Names<MissingRule>, 3> missing_names{{{MissingRule::Refuse, "refuse"}, {MissingRule::Drop, "drop"}, {MissingRule::Mean, "mean"}}};
constexpr std::array<Names<Normalise>, 4> normalise_names{
    {{Normalise::Auto, "auto"}, {Normalise::None, "none"}, {Normalise::Unit, "unit"}, {Normalise::Standardise, "standardise"}}};
constexpr std::array<Names<LaunchScope>, 4> scope_names{{{LaunchScope::Thread, "thread"},
                                                         {LaunchScope::Process, "process"},
                                                         {LaunchScope::Ranks, "ranks"},
                                                         {LaunchScope::Join, "join"}}};
constexpr std::array<Names<ComparisonOrder>, 3> order_names{{{ComparisonOrder::Turns, "turns"},
                                                             {ComparisonOrder::OneByOne, "one-by-one"},
                                                             {ComparisonOrder::AtOnce, "at-once"}}};
constexpr std::array<Names<OptimizerImplementation>, 2> implementation_names{
    {{OptimizerImplementation::Exact, "exact"}, {OptimizerImplementation::Fused, "fused"}}};
constexpr std::array<Names<EvaluationSplit>, 2> split_names{
    {{EvaluationSplit::Validation, "validation"}, {EvaluationSplit::Training, "training"}}};
constexpr std::array<Names<EvaluationPrecision>, 3> precision_names{
    {{EvaluationPrecision::Fp32, "fp32"},
     {EvaluationPrecision::Autocast, "autocast"},
     {EvaluationPrecision::Both, "both"}}};
constexpr std::array<Names<OnNonfinite>, 4> nonfinite_names{{{OnNonfinite::Stop, "stop"},
                                                             {OnNonfinite::Pause, "pause"},
                                                             {OnNonfinite::Skip, "skip"},
                                                             {OnNonfinite::Mark, "mark"}}};
constexpr std::array<Names<Tf32>, 3> tf32_names{{{Tf32::Torch, "torch"}, {Tf32::Off, "off"}, {Tf32::On, "on"}}};
constexpr std::array<Names<CpuHalf>, 2> half_names{{{CpuHalf::Torch, "torch"}, {CpuHalf::Fast, "fast"}}};
constexpr std::array<Names<BatchNormOnSkip>, 2> batch_norm_names{
    {{BatchNormOnSkip::Restore, "restore"}, {BatchNormOnSkip::Keep, "keep"}}};
constexpr std::array<Names<ShortWindow>, 2> window_names{
    {{ShortWindow::RightSized, "right_sized"}, {ShortWindow::Upstream, "upstream"}}};
constexpr std::array<Names<Compat>, 2> compat_names{
    {{Compat::None, "none"}, {Compat::Accelerate, "accelerate"}}};

template <typename Enumeration>
const char* name_of(Enumeration wanted) {
    for (const auto& [value, name] : names_of<Enumeration>())
        if (value == wanted) return name;
    MANTISSA_ASSERT(!"an enumerator without a spelling");
    return "";
}

}  // namespace

template <>
std::span<const Names<TargetWish>> names_of() {
    return target_names;
}
template <>
std::span<const Names<TableHeader>> names_of() {
    return header_names;
}
template <>
std::span<const Names<MissingRule>> names_of() {
    return missing_names;
}
template <>
std::span<const Names<Normalise>> names_of() {
    return normalise_names;
}
template <>
std::span<const Names<LaunchScope>> names_of() {
    return scope_names;
}
template <>
std::span<const Names<ComparisonOrder>> names_of() {
    return order_names;
}
template <>
std::span<const Names<OptimizerImplementation>> names_of() {
    return implementation_names;
}
template <>
std::span<const Names<EvaluationSplit>> names_of() {
    return split_names;
}
template <>
std::span<const Names<EvaluationPrecision>> names_of() {
    return precision_names;
}
template <>
std::span<const Names<OnNonfinite>> names_of() {
    return nonfinite_names;
}
template <>
std::span<const Names<CpuHalf>> names_of() {
    return half_names;
}
template <>
std::span<const Names<Tf32>> names_of() {
    return tf32_names;
}
template <>
std::span<const Names<BatchNormOnSkip>> names_of() {
    return batch_norm_names;
}
template <>
std::span<const Names<ShortWindow>> names_of() {
    return window_names;
}
template <>
std::span<const Names<Compat>> names_of() {
    return compat_names;
}

const char* to_string(TargetWish value) {
    return name_of(value);
}
const char* to_string(TableHeader value) {
    return name_of(value);
}
const char* to_string(MissingRule value) {
    return name_of(value);
}
const char* to_string(Normalise value) {
    return name_of(value);
}
const char* to_string(LaunchScope value) {
    return name_of(value);
}
const char* to_string(ComparisonOrder value) {
    return name_of(value);
}
const char* to_string(OptimizerImplementation value) {
    return name_of(value);
}
const char* to_string(EvaluationSplit value) {
    return name_of(value);
}
const char* to_string(EvaluationPrecision value) {
    return name_of(value);
}
const char* to_string(OnNonfinite value) {
    return name_of(value);
}
const char* to_string(CpuHalf value) {
    return name_of(value);
}
const char* to_string(Tf32 value) {
    return name_of(value);
}
const char* to_string(BatchNormOnSkip value) {
    return name_of(value);
}
const char* to_string(ShortWindow value) {
    return name_of(value);
}
const char* to_string(Compat value) {
    return name_of(value);
}

bool same_spelling(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const char a = left[i] == '-' ? '_' : left[i], b = right[i] == '-' ? '_' : right[i];
        if (a != b) return false;
    }
    return true;
}

}  // namespace mantissa
