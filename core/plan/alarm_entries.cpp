#include "plan/alarm_entries.h"

#include <algorithm>
#include <map>

#include "base/numbers.h"
#include "plan/nearest.h"

namespace mantissa {
namespace {

constexpr std::int64_t most_steps = 1'000'000;

struct Bounds {
    double low, high;
    const char* unit;
};

Bounds threshold_bounds(AlarmKind kind) {
    switch (kind) {
        case AlarmKind::Headroom: return {0, 64, "bits"};
        case AlarmKind::ScaleFloor: return {0, 64, "halvings"};
        case AlarmKind::SkipStreak: return {1, 1e6, "skipped steps"};
        case AlarmKind::FlushShare:
        case AlarmKind::DeadLayer:
        case AlarmKind::UpdateShare: return {0, 1, "(a share)"};
        case AlarmKind::VanishingGradient: return {0, 1, "(of the largest)"};
    }
    return {0, 1, ""};
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const AlarmKind kind : all_alarm_kinds) names.emplace_back(to_string(kind));
    return names;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t from = text.find_first_not_of(" \t", at);
        if (from == std::string_view::npos) break;
        const std::size_t to = std::min(text.find_first_of(" \t", from), text.size());
        words.emplace_back(text.substr(from, to - from));
        at = to;
    }
    return words;
}

Error bad(const std::string& entry, const std::string& why, const std::string& hint) {
    return {ErrorCode::BadPlan, "observe.alarms has the entry \"" + entry + "\": " + why, hint};
}

Result<void> take_threshold(const std::string& entry, const std::string& value, AlarmRule& rule) {
    const Bounds bounds = threshold_bounds(rule.kind);
    const auto number = parse_double(value);
    if (!number || !(*number >= bounds.low && *number <= bounds.high))
        return bad(entry, "its threshold is " + value,
                   "use a number from " + to_text(bounds.low) + " to " + to_text(bounds.high) + " " + bounds.unit + "; the default is " +
                       to_text(default_alarm(rule.kind).threshold));
    rule.threshold = *number;
    return {};
}

template <typename Value, std::size_t count>
Result<void> take_name(const std::string& entry, const std::string& what, const std::string& text, const std::array<Value, count>& all,
                       Value& value) {
    std::vector<std::string> names;
    for (const Value one : all) {
        names.emplace_back(to_string(one));
        if (text != to_string(one)) continue;
        value = one;
        return {};
    }
    return bad(entry, "its " + what + " is " + text, "use one of: " + join_names(names));
}

Result<void> take_setting(const std::string& entry, const std::string& word, AlarmRule& rule) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "threshold") return take_threshold(entry, value, rule);
    if (name == "level")
        return take_name(entry, name, value, std::array{AlarmLevel::Note, AlarmLevel::Warning, AlarmLevel::Error}, rule.level);
    if (name == "action")
        return take_name(entry, name, value,
                         std::array{AlarmAction::Mark, AlarmAction::Pause, AlarmAction::Stop, AlarmAction::Checkpoint, AlarmAction::Watch},
                         rule.action);
    if (name != "steps") return bad(entry, "it doesn't know " + name, "after the rule's name: off, threshold=…, steps=…, level=…, action=…");
    const auto steps = parse_int(value);
    if (!steps || *steps < 1 || *steps > most_steps)
        return bad(entry, "its steps are " + value, "use a whole number from 1 to " + std::to_string(most_steps));
    rule.steps = *steps;
    return {};
}

}  // namespace

const char* to_string(AlarmKind kind) {
    switch (kind) {
        case AlarmKind::Headroom: return "headroom";
        case AlarmKind::FlushShare: return "flush_share";
        case AlarmKind::SkipStreak: return "skip_streak";
        case AlarmKind::ScaleFloor: return "scale_floor";
        case AlarmKind::VanishingGradient: return "vanishing_gradient";
        case AlarmKind::DeadLayer: return "dead_layer";
        case AlarmKind::UpdateShare: return "update_share";
    }
    return "";
}

const char* to_string(AlarmLevel level) {
    switch (level) {
        case AlarmLevel::Note: return "note";
        case AlarmLevel::Warning: return "warning";
        case AlarmLevel::Error: return "error";
    }
    return "";
}

const char* to_string(AlarmAction action) {
    switch (action) {
        case AlarmAction::Mark: return "mark";
        case AlarmAction::Pause: return "pause";
        case AlarmAction::Stop: return "stop";
        case AlarmAction::Checkpoint: return "checkpoint";
        case AlarmAction::Watch: return "watch";
    }
    return "";
}

std::optional<AlarmKind> parse_alarm_kind(std::string_view text) {
    for (const AlarmKind kind : all_alarm_kinds) {
        if (text == to_string(kind)) return kind;
    }
    return std::nullopt;
}

AlarmRule default_alarm(AlarmKind kind) {
    AlarmRule rule{kind, 0, 1, AlarmLevel::Warning, AlarmAction::Mark};
    switch (kind) {
        case AlarmKind::Headroom: rule.threshold = 1; break;  // one doubling from overflow
        case AlarmKind::FlushShare: rule.threshold = 0.1, rule.steps = 3; break;
        case AlarmKind::SkipStreak: rule.threshold = 3; break;  // from the third on a skip is a fault (design §10)
        case AlarmKind::ScaleFloor: rule.threshold = 4; break;
        case AlarmKind::VanishingGradient: rule.threshold = 1e-6, rule.steps = 3, rule.level = AlarmLevel::Note; break;
        case AlarmKind::DeadLayer: rule.threshold = 1, rule.steps = 3; break;
        case AlarmKind::UpdateShare: rule.threshold = 0.5, rule.steps = 3; break;
    }
    return rule;
}

std::string alarm_entry(const AlarmRule& rule) {
    return std::string(to_string(rule.kind)) + " threshold=" + to_text(rule.threshold) + " steps=" + std::to_string(rule.steps) +
           " level=" + to_string(rule.level) + " action=" + to_string(rule.action);
}

Result<std::vector<AlarmRule>> parse_alarms(const std::vector<std::string>& entries) {
    std::map<AlarmKind, std::optional<AlarmRule>> told;  // empty: switched off
    for (const std::string& entry : entries) {
        const std::vector<std::string> words = words_of(entry);
        if (words == std::vector<std::string>{"off"}) {
            if (entries.size() > 1) return bad(entry, "it switches every alarm off, and there are other entries", "drop one or the other");
            return std::vector<AlarmRule>{};
        }
        const auto kind = words.empty() ? std::nullopt : parse_alarm_kind(words.front());
        if (!kind) {
            const auto nearest = words.empty() ? std::vector<std::string>{} : nearest_names(words.front(), kind_names());
            return bad(entry, "it begins with no rule's name",
                       (nearest.empty() ? "" : "did you mean " + join_names(nearest) + "? ") + "the rules are: " + join_names(kind_names()) +
                           "; \"off\" switches all of them off");
        }
        if (told.contains(*kind)) return bad(entry, "there is another one for the same rule", "write one entry a rule");
        AlarmRule rule = default_alarm(*kind);
        const bool is_off = words.size() == 2 && words.back() == "off";
        for (std::size_t i = 1; i < words.size() && !is_off; ++i) {
            if (auto taken = take_setting(entry, words[i], rule); !taken) return taken.error();
        }
        told[*kind] = is_off ? std::nullopt : std::optional(rule);
    }
    std::vector<AlarmRule> rules;
    for (const AlarmKind kind : all_alarm_kinds) {
        const auto entry = told.find(kind);
        if (entry == told.end()) rules.push_back(default_alarm(kind));
        else if (entry->second) rules.push_back(*entry->second);
    }
    return rules;
}

}  // namespace mantissa
