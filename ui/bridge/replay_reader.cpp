#include "ui/bridge/replay_reader.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/numbers.h"
#include "launch/replay_job.h"
#include "launch/run_lookup.h"
#include "launch/run_parent.h"
#include "record/comparison_record.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view statePrefix = "state_";
constexpr int looksBetweenControls = 5;  // the runs folder is looked through once a second

std::int64_t sizeOf(const fs::path& folder) {
    std::int64_t bytes = 0;
    std::error_code failure;
    for (const auto& entry : fs::recursive_directory_iterator(folder, failure)) {
        const auto size = entry.is_regular_file(failure) ? entry.file_size(failure) : 0;
        bytes += failure ? 0 : static_cast<std::int64_t>(size);
    }
    return bytes;
}

/// True when `file` is newer than what was seen; also when it has gone.
bool isNews(const fs::path& file, std::optional<FileStamp>& seen) {
    const std::optional<FileStamp> now = file_stamp(file);
    return std::exchange(seen, now) != now;
}

fs::path controlOf(const fs::path& run) {
    const fs::path job = job_folder_of(run);
    const auto record = job == run ? Result<ComparisonRecord>(ComparisonRecord()) : read_comparison(job);
    for (std::size_t i = 0; record && i < std::min(record->modes.size(), record->run_dirs.size()); ++i) {
        if (record->modes[i] == Precision::No && record->run_dirs[i] != run) {
            return record->run_dirs[i];
        }
    }
    return {};
}

/// A report says "running" for ever when its process was killed. What was tried until then stands.
void stopReport(ReplayReport& report) {
    report.state = "stopped";
    for (VariantReport& variant : report.variants) {
        variant.state = variant.state == "running" ? "waiting" : variant.state;
    }
    report.best = cheapest_that_holds(report);
}

std::optional<bool> isFiniteAt(const fs::path& run, std::int64_t step) {
    const auto reader = RunReader::open(run);
    const auto rows = reader ? (*reader)->read_new() : Result<RunRows>(reader.error());
    for (std::size_t i = 0; rows && i < rows->steps.size(); ++i) {
        if (const StepRow& row = rows->steps[i]; row.step == step) {
            return !row.nonfinite_loss && row.nonfinite_grads == 0;
        }
    }
    return std::nullopt;
}

}  // namespace

ReplayReader::ReplayReader(fs::path run, std::int64_t step)
    : m_run(std::move(run)), m_step(step), m_folder(incident_folder(m_run, step)) {}

std::optional<ReplaySnapshot> ReplayReader::look() {
    std::error_code failure;
    if (!fs::is_directory(m_run, failure)) {
        const std::string problem = "there is no folder " + m_run.string() + " any more";
        return std::exchange(m_snapshot.problem, problem) == problem ? std::nullopt : std::optional(m_snapshot);
    }
    bool isNew = m_isFirst || !m_snapshot.problem.empty();
    m_isFirst = false;
    m_snapshot.problem.clear();
    isNew = lookAtRun() || isNew;
    isNew = lookAtIncident() || isNew;
    isNew = lookAtReplay() || isNew;
    isNew = lookAtStates() || isNew;
    isNew = lookAtControl() || isNew;
    return isNew ? std::optional(m_snapshot) : std::nullopt;
}

bool ReplayReader::lookAtRun() {
    // A summary reads the whole recording: once, and once more when the run has ended.
    if (m_hasRun && (!m_snapshot.run || is_end_state(m_snapshot.run->state) || !RunLock::is_free({m_run}))) {
        return false;
    }
    m_hasRun = true;
    auto summary = summarize_run(m_run);
    m_snapshot.run = summary ? std::optional(std::move(*summary)) : std::nullopt;
    if (auto plan = read_file(RunFolder{m_run}.plan()); plan) {
        m_snapshot.planJson = std::move(*plan);
    }
    m_snapshot.control = controlOf(m_run);
    m_looksForControl = 0;
    return true;
}

bool ReplayReader::lookAtIncident() {
    if (!isNews(m_folder / "incident.json", m_incidentSeen)) {
        return false;
    }
    m_snapshot.incident.reset();
    m_snapshot.incidentProblem.clear();
    if (m_incidentSeen) {
        auto incident = read_incident(m_folder);
        m_snapshot.incidentProblem = incident ? std::string() : describe(incident.error());
        m_snapshot.incident = incident ? std::optional(std::move(*incident)) : std::nullopt;
    }
    return true;
}

bool ReplayReader::lookAtReplay() {
    // The lock before the file: a process that ends writes first and lets go then.
    const bool isWorkedOn = is_replay_running(m_run, m_step);
    const bool hasChanged = std::exchange(m_isWorkedOn, isWorkedOn) != isWorkedOn;
    if (!isNews(m_folder / "replay.json", m_replaySeen) && !hasChanged) {
        return false;
    }
    m_snapshot.replay.reset();
    m_snapshot.replayProblem.clear();
    if (m_replaySeen) {
        auto replay = read_replay(m_folder);
        m_snapshot.replayProblem = replay ? std::string() : describe(replay.error());
        m_snapshot.replay = replay ? std::optional(std::move(*replay)) : std::nullopt;
        if (m_snapshot.replay && m_snapshot.replay->state == "running" && !isWorkedOn) {
            stopReport(*m_snapshot.replay);
        }
    }
    return true;
}

bool ReplayReader::lookAtStates() {
    std::vector<KeptState> found;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(m_folder, failure)) {
        const std::string name = entry.path().filename().string();
        const auto step = name.starts_with(statePrefix) ? parse_int(name.substr(statePrefix.size())) : std::nullopt;
        if (step && entry.is_directory(failure)) {
            found.push_back({entry.path(), *step, 0});
        }
    }
    std::sort(found.begin(), found.end(), [](const KeptState& a, const KeptState& b) { return a.step < b.step; });
    const auto& known = m_snapshot.states;
    const bool isSame = std::equal(found.begin(), found.end(), known.begin(), known.end(),
                                   [](const KeptState& a, const KeptState& b) { return a.folder == b.folder; });
    if (isSame) {
        return false;  // sizes are summed once: a state is hidden until it is whole, and never written again
    }
    for (KeptState& state : found) {
        state.bytes = sizeOf(state.folder);
    }
    m_snapshot.states = std::move(found);
    return true;
}

bool ReplayReader::lookAtControl() {
    bool isNew = false;
    if (m_snapshot.control.empty() && m_snapshot.run && m_snapshot.run->mode != Precision::No && m_looksForControl++ % looksBetweenControls == 0) {
        m_snapshot.control = find_control(m_run);  // it may be run at any time
        isNew = !m_snapshot.control.empty();
    }
    if (m_snapshot.isControlFinite || m_snapshot.control.empty()) {
        return isNew;
    }
    m_snapshot.isControlFinite = isFiniteAt(m_snapshot.control, m_step);
    return isNew || m_snapshot.isControlFinite.has_value();
}

}  // namespace mantissa::ui
