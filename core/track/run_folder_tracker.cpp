#include "track/run_folder_tracker.h"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/version.h"
#include "record/meta_keys.h"

namespace mantissa {
namespace {

nlohmann::json to_json(const TrackerConfig& config) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [name, value] : config) {
        if (value.text() != nullptr) json[name] = *value.text();
        if (value.truth() != nullptr) json[name] = *value.truth();
        if (value.number() != nullptr && value.is_whole()) json[name] = static_cast<std::int64_t>(*value.number());
        if (value.number() != nullptr && !value.is_whole()) json[name] = number_to_json(*value.number());
    }
    return json;
}

// A folder that `runs`, the report and the window open; it says itself that no plan made it.
std::string plan_text(const TrackerStart& start, const std::string& mode) {
    const nlohmann::json plan = {{"name", start.project}, {"mixed_precision", mode}, {"config", to_json(start.config)}};
    return nlohmann::json{{"mantissa_program", 1}, {"plan", plan}}.dump(
               2, ' ', false, nlohmann::json::error_handler_t::replace) +
           "\n";
}

struct Place {
    std::string split, metric;
};

// "validation/accuracy", "val_loss", "eval/f1", "train/accuracy".
Place place_of(const std::string& name) {
    constexpr std::array<std::pair<const char*, const char*>, 7> splits{{{"validation", "validation"},
                                                                         {"valid", "validation"},
                                                                         {"eval", "validation"},
                                                                         {"val", "validation"},
                                                                         {"training", "training"},
                                                                         {"train", "training"},
                                                                         {"test", "test"}}};
    for (const auto& [prefix, split] : splits) {
        const std::size_t length = std::string(prefix).size();
        const bool is_followed = name.size() > length + 1 && (name[length] == '/' || name[length] == '_' || name[length] == '.');
        if (name.starts_with(prefix) && is_followed) return {split, name.substr(length + 1)};
    }
    return {"logged", name};
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Result<void> RunFolderTracker::start(const TrackerStart& start) {
    if (m_recorder)
        return Error{ErrorCode::BadPlan, "this run folder is being written already: " + m_folder.path.string(),
                     "make a new RunFolderTracker for a second run"};
    const auto fact = [&start](const char* key, const char* standard) {
        const auto found = start.facts.find(key);
        return found == start.facts.end() ? std::string(standard) : found->second;
    };
    const std::string mode = fact(meta::mode, "no");
    auto folder = create_run_folder(runs_folder(m_runs), start.project.empty() ? "program" : start.project,
                                    parse_precision(mode).value_or(Precision::No));
    if (!folder) return folder.error();
    m_folder = *folder;
    auto lock = RunLock::take(m_folder);
    if (!lock) return lock.error();
    m_lock.emplace(std::move(lock).value());
    if (auto written = write_file_atomically(m_folder.plan(), plan_text(start, mode)); !written) return written;
    auto recorder = RunRecorder::open(m_folder.path);
    if (!recorder) return recorder.error();
    m_recorder = std::move(recorder).value();
    for (const auto& [key, value] : start.facts) m_recorder->meta(key, value);
    m_recorder->meta(meta::name, start.project);
    m_recorder->meta(meta::started_ns, std::to_string(now_ns()));
    m_recorder->meta(meta::program_version, version);
    m_recorder->meta(meta::host_name, host_name());
    m_recorder->meta(meta::process_id, std::to_string(getpid()));
    m_recorder->state(RunState::Running);
    return m_recorder->flush();
}

void RunFolderTracker::evaluation(const std::string& name, double value, std::int64_t step) {
    const Place place = place_of(name);
    EvaluationRow row;
    row.step = step;
    row.split = place.split;
    row.metric = place.metric;
    row.value = value;
    row.precision = m_precision;
    m_recorder->evaluation(std::move(row));
    if (place.split == "validation" && !std::exchange(m_has_metric, true)) m_recorder->meta(meta::metric, place.metric);
}

Result<void> RunFolderTracker::log(const TrackedValues& values, std::optional<std::int64_t> step) {
    if (!m_recorder) return Error{ErrorCode::BadPlan, "the run folder isn't open", "call start first"};
    const std::int64_t at = step.value_or(m_attempts);
    for (const auto& [name, value] : values) {
        if (value.text() != nullptr) m_recorder->meta("text." + name, *value.text());
        if (value.number() != nullptr) evaluation(name, *value.number(), at);
        if (value.numbers() != nullptr)
            for (const auto& [key, number] : *value.numbers()) evaluation(name + "." + key, number, at);
    }
    if (auto error = m_recorder->error()) return *error;
    return {};
}

Result<void> RunFolderTracker::attempt(const TrackedAttempt& attempt) {
    if (!m_recorder) return {};
    const StepRow& row = attempt.row;
    m_recorder->step(row);
    // Nothing of such a step reached a weight: a program that leaves now was stopped by it.
    const bool was_refused = row.skipped && (row.nonfinite_loss || !row.loss_scale);
    m_refusal = was_refused ? "a non-finite value was kept away from the weights at step " + std::to_string(row.step) : "";
    m_attempts = attempt.row.step + 1;
    if (attempt.micro_batch_losses.size() > 1)
        for (std::size_t i = 0; i < attempt.micro_batch_losses.size(); ++i)
            m_recorder->micro_batch({attempt.row.step, static_cast<std::int64_t>(i), attempt.micro_batch_losses[i]});
    if (auto error = m_recorder->error()) return *error;
    return {};
}

Result<void> RunFolderTracker::end(RunState state, const std::string& reason) {
    m_recorder->state(state, reason);
    auto flushed = m_recorder->flush();
    m_recorder.reset();
    m_lock.reset();
    return flushed;
}

Result<void> RunFolderTracker::finish() { return m_recorder ? end(RunState::Finished, "") : Result<void>(); }

RunFolderTracker::~RunFolderTracker() {
    if (!m_recorder) return;
    const auto state = m_refusal.empty() ? RunState::Failed : RunState::StoppedNonfinite;
    if (auto ended = end(state, m_refusal.empty() ? "the program left without end_training()" : m_refusal); !ended)
        log::error(describe(ended.error()));
}

}  // namespace mantissa
