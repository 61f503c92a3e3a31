#pragma once
// The alarms of a plan: seven rules with defaults, and the entries of observe.alarms that say what differs. An entry is "off" (no alarm at
// all), "RULE off", or "RULE name=value …" with threshold, steps, level and action. What a rule means is in judge/alarms.h.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

enum class AlarmKind { Headroom, FlushShare, SkipStreak, ScaleFloor, VanishingGradient, DeadLayer, UpdateShare };
inline constexpr std::array<AlarmKind, 7> all_alarm_kinds{AlarmKind::Headroom,   AlarmKind::FlushShare,        AlarmKind::SkipStreak,
                                                          AlarmKind::ScaleFloor, AlarmKind::VanishingGradient, AlarmKind::DeadLayer,
                                                          AlarmKind::UpdateShare};
enum class AlarmLevel { Note, Warning, Error };
enum class AlarmAction { Mark, Pause, Stop, Checkpoint, Watch };

[[nodiscard]] const char* to_string(AlarmKind kind);      // "headroom" "flush_share" "skip_streak" …
[[nodiscard]] const char* to_string(AlarmLevel level);    // "note" "warning" "error"
[[nodiscard]] const char* to_string(AlarmAction action);  // "mark" "pause" "stop" "checkpoint" "watch"
[[nodiscard]] std::optional<AlarmKind> parse_alarm_kind(std::string_view text);

struct AlarmRule {
    AlarmKind kind = AlarmKind::Headroom;
    double threshold = 1;
    std::int64_t steps = 1;  // looks in a row at which it must be true: steps, or tensor records for the rules about tensors
    AlarmLevel level = AlarmLevel::Warning;
    AlarmAction action = AlarmAction::Mark;
    bool operator==(const AlarmRule&) const = default;
};

[[nodiscard]] AlarmRule default_alarm(AlarmKind kind);
/// "headroom threshold=2 steps=3 level=warning action=pause": as an entry of observe.alarms.
[[nodiscard]] std::string alarm_entry(const AlarmRule& rule);
/// The rules that are on, in the order of all_alarm_kinds. A bad entry is an Error of BadPlan that names it.
Result<std::vector<AlarmRule>> parse_alarms(const std::vector<std::string>& entries);

}  // namespace mantissa
