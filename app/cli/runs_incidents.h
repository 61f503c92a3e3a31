#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace mantissa::cli {

/// Of a run, or of every run of a comparison: its parent, its incidents, what they keep and how much.
void print_incidents(const std::filesystem::path& folder);
/// [{run_dir, step, kind, severity, place, states: [...], bytes, replay}], lowest step first.
nlohmann::json incidents_json(const std::filesystem::path& folder);
/// `runs delete-states RUN`.
int delete_states(const std::filesystem::path& folder, bool json);

}  // namespace mantissa::cli
