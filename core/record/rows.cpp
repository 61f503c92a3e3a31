#include "record/rows.h"

#include <array>
#include <utility>

namespace mantissa {
namespace {

constexpr std::array<std::pair<RunState, const char*>, 10> run_state_names{{
    {RunState::Queued, "queued"},
    {RunState::Trial, "trial"},
    {RunState::Running, "running"},
    {RunState::Paused, "paused"},
    {RunState::Finished, "finished"},
    {RunState::StoppedNonfinite, "stopped_nonfinite"},
    {RunState::Stopped, "stopped"},
    {RunState::Interrupted, "interrupted"},
    {RunState::Failed, "failed"},
    {RunState::Lost, "lost"},
}};

constexpr std::array<std::pair<TensorRole, const char*>, 4> tensor_role_names{{
    {TensorRole::Weight, "weight"},
    {TensorRole::Gradient, "gradient"},
    {TensorRole::Update, "update"},
    {TensorRole::Output, "output"},
}};

}  // namespace

const char* to_string(TensorRole role) {
    for (const auto& [value, text] : tensor_role_names) {
        if (value == role) return text;
    }
    return "";
}

std::optional<TensorRole> parse_tensor_role(std::string_view text) {
    for (const auto& [value, name] : tensor_role_names) {
        if (text == name) return value;
    }
    return std::nullopt;
}

const char* to_string(SkipKind kind) {
    switch (kind) {
        case SkipKind::None:
            return "";
        case SkipKind::Probing:
            return "probing";
        case SkipKind::Fault:
            return "fault";
    }
    return "";
}

std::optional<SkipKind> parse_skip_kind(std::string_view text) {
    for (const SkipKind kind : {SkipKind::None, SkipKind::Probing, SkipKind::Fault}) {
        if (text == to_string(kind)) return kind;
    }
    return std::nullopt;
}

const char* to_string(RunState state) {
    for (const auto& [value, text] : run_state_names) {
        if (value == state) return text;
    }
    return "";
}

std::optional<RunState> parse_run_state(std::string_view text) {
    for (const auto& [value, name] : run_state_names) {
        if (text == name) return value;
    }
    return std::nullopt;
}

bool is_end_state(RunState state) {
    switch (state) {
        case RunState::Queued:
        case RunState::Trial:
        case RunState::Running:
        case RunState::Paused:
            return false;
        case RunState::Finished:
        case RunState::StoppedNonfinite:
        case RunState::Stopped:
        case RunState::Interrupted:
        case RunState::Failed:
        case RunState::Lost:
            return true;
    }
    return false;
}

}  // namespace mantissa
