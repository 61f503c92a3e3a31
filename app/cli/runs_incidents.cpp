#include "runs_incidents.h"

#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "launch/incident_states.h"
#include "launch/job.h"
#include "launch/run_parent.h"
#include "output.h"
#include "record/replay_report.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<fs::path> runs_of(const fs::path& folder) {
    const auto job = read_job(folder);
    std::vector<fs::path> runs;
    if (job)
        for (const JobRun& run : job->runs) runs.push_back(run.folder.path);
    if (runs.empty()) runs.push_back(folder);
    return runs;
}

std::string size_text(std::int64_t bytes) { return readable_bytes(static_cast<std::uint64_t>(bytes)); }

std::string states_text(const CheckpointList& states) {
    if (states.checkpoints.empty()) return "no kept state";
    const std::size_t count = states.checkpoints.size();
    return std::to_string(count) + (count == 1 ? " kept state (" : " kept states (") + size_text(states.bytes()) + ")";
}

std::string incident_line(const fs::path& run, std::int64_t step) {
    std::string line = "incident at step " + std::to_string(step) + ": ";
    const auto incident = read_incident(incident_folder(run, step));
    if (!incident) return line + "unreadable: " + incident.error().message;
    line += incident->kind;
    if (incident->birth) line += " in " + incident->birth->place();
    if (incident->rank) line += " on rank " + std::to_string(*incident->rank);
    line += ", " + states_text(states_in(incident_folder(run, step)));
    const auto replay = read_replay(incident_folder(run, step));
    if (replay && replay->state != "running") line += replay->best.empty() ? ", replayed" : ", replayed: " + replay->best + " holds";
    if (incident->rank) return line;  // a replay has one process
    return line + " – mantissa replay " + run.filename().string() + " --step " + std::to_string(step);
}

Json states_json(const CheckpointList& list) {
    Json states = Json::array();
    for (const CheckpointInfo& state : list.checkpoints)
        states.push_back({{"path", state.path.string()}, {"step", state.step}, {"bytes", state.bytes}});
    return states;
}

Json incident_json(const fs::path& run, std::int64_t step) {
    const fs::path folder = incident_folder(run, step);
    const auto states = states_in(folder);
    Json all{{"run_dir", run.string()}, {"step", step}, {"states", states_json(states)}, {"bytes", states.bytes()}, {"damaged", states.damaged}};
    if (const auto incident = read_incident(folder)) {
        all["kind"] = incident->kind;
        all["severity"] = incident->severity;
        all["place"] = incident->birth ? Json(incident->birth->place()) : Json(nullptr);
        all["no_states"] = incident->no_states;
        all["rank"] = incident->rank ? Json(*incident->rank) : Json(nullptr);
    } else {
        all["error"] = incident.error().message;
    }
    const auto replay = read_replay(folder);
    all["replay"] = replay ? Json{{"state", replay->state}, {"best", replay->best}} : Json(nullptr);
    return all;
}

void print_parent(const fs::path& run) {
    const auto parent = read_parent(run);
    if (!parent) return;
    const std::string name = parent->run.filename().string();
    if (parent->purpose == "control") return print("control of " + name);
    print((parent->purpose == "fix" ? "fix of " : "what if of ") + name + ": " + parent->change + " from step " + std::to_string(parent->step));
}

}  // namespace

void print_incidents(const fs::path& folder) {
    std::int64_t bytes = 0;
    for (const fs::path& run : runs_of(folder)) {
        print_parent(run);
        for (const std::int64_t step : incident_steps(run)) print(incident_line(run, step));
        bytes += incident_states(run).bytes();
    }
    if (bytes > 0) print("kept for replays: " + size_text(bytes) + "; to free it: mantissa runs delete-states " + folder.filename().string());
}

Json incidents_json(const fs::path& folder) {
    Json list = Json::array();
    for (const fs::path& run : runs_of(folder))
        for (const std::int64_t step : incident_steps(run)) list.push_back(incident_json(run, step));
    return list;
}

int delete_states(const fs::path& folder, bool json) {
    DeletedStates all;
    for (const fs::path& run : runs_of(folder)) {
        const auto deleted = delete_incident_states(run);
        if (!deleted) return fail(deleted.error());
        all.states += deleted->states;
        all.bytes += deleted->bytes;
    }
    if (json)
        print_json({{"deleted", all.states}, {"bytes", all.bytes}});
    else
        print("deleted " + std::to_string(all.states) + (all.states == 1 ? " state, " : " states, ") + size_text(all.bytes));
    return 0;
}

}  // namespace mantissa::cli
