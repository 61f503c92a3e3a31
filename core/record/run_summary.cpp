#include "record/run_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/numbers.h"
#include "record/json_fields.h"
#include "record/meta_keys.h"
#include "record/reports.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {
namespace {

using Meta = std::map<std::string, std::string>;

std::string text_of(const Meta& values, const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
}

std::int64_t integer_of(const Meta& values, const char* key) {
    constexpr std::int64_t most = (std::int64_t{1} << 62) - 1;  // as Statement::amount
    return std::clamp(parse_int(text_of(values, key)).value_or(0), -most, most);
}

std::optional<ResumedFrom> resumed_of(const Meta& values) {
    const auto step = parse_int(text_of(values, meta::resumed_step));
    if (!step) return std::nullopt;
    ResumedFrom from;
    from.checkpoint = text_of(values, meta::resumed_checkpoint);
    from.run = text_of(values, meta::resumed_run);
    from.step = *step;
    from.applied_steps = integer_of(values, meta::resumed_applied);
    from.mode = parse_precision(text_of(values, meta::resumed_mode)).value_or(Precision::No);
    from.scale = parse_resumed_scale(text_of(values, meta::resumed_scale)).value_or(ResumedScale::None);
    from.saved_scale = parse_double(text_of(values, meta::resumed_saved_scale));
    return from;
}

nlohmann::json to_json(const std::optional<ResumedFrom>& from) {
    if (!from) return nullptr;
    return {{"checkpoint", from->checkpoint},
            {"run", from->run},
            {"step", from->step},
            {"applied_steps", from->applied_steps},
            {"mode", to_string(from->mode)},
            {"loss_scale", to_string(from->scale)},
            {"saved_loss_scale", number_to_json(from->saved_scale)}};
}

void fill_from_meta(RunSummary& summary, const Meta& values) {
    if (values.contains(meta::name)) summary.name = text_of(values, meta::name);
    summary.model = text_of(values, meta::model);
    summary.dataset = text_of(values, meta::dataset);
    summary.comparison_id = text_of(values, meta::comparison_id);
    summary.started_ns = integer_of(values, meta::started_ns);
    summary.mode = parse_precision(text_of(values, meta::mode)).value_or(summary.mode);
    summary.requested = parse_precision(text_of(values, meta::requested)).value_or(summary.mode);
    summary.effective = parse_precision(text_of(values, meta::effective)).value_or(summary.requested);
    summary.support = parse_support(text_of(values, meta::support)).value_or(Support::Native);
    summary.support_reason = text_of(values, meta::support_reason);
    summary.device = text_of(values, meta::device);
    summary.device_name = text_of(values, meta::device_name);
    summary.planned_steps = integer_of(values, meta::planned_steps);
    summary.validation_samples = integer_of(values, meta::validation_samples);
    summary.linear_layers = linear_layers_of(text_of(values, meta::linear_layers));
    summary.checkpoint = text_of(values, meta::checkpoint);
    summary.checkpoint_error = text_of(values, meta::checkpoint_error);
    summary.resumed = resumed_of(values);
    if (!summary.resumed) return;
    summary.steps = std::max(summary.steps, summary.resumed->step);
    summary.applied_steps = std::max(summary.applied_steps, summary.resumed->applied_steps);
}

/// "20261130-134955-digits-mlp-fp16": what a folder says about a run that has recorded nothing yet.
void fill_from_folder_name(RunSummary& summary) {
    constexpr std::size_t stamp = 16;
    std::string name = summary.run_dir.filename().string();
    if (name.size() <= stamp) return;
    name.erase(0, stamp);
    const auto cut_last = [&name]() -> std::string {
        const auto dash = name.rfind('-');
        if (dash == std::string::npos) return {};
        std::string last = name.substr(dash + 1);
        name.resize(dash);
        return last;
    };
    const std::string whole = name;
    std::string last = cut_last();
    if (parse_int(last)) last = cut_last();  // the number that tells equal names apart
    const auto mode = parse_precision(last);
    summary.name = mode ? name : whole;
    summary.mode = summary.requested = summary.effective = mode.value_or(Precision::No);
}

bool is_bad(const StepRow& row) {
    // A gradient that overflows under the loss scaler is how the scale finds its place, not a fault of the
    // numbers.
    return row.nonfinite_loss || (!row.loss_scale && row.nonfinite_grads > 0);
}

/// Sums up rows piece by piece, so that a run of any length needs 8 bytes a step.
class StepTotals {
  public:
    explicit StepTotals(RunSummary& summary) : m_summary(summary) {}

    void add(const std::vector<StepRow>& rows) {
        for (const StepRow& row : rows) {
            if (m_step_ns.empty()) m_summary.first_loss = row.loss;
            m_summary.steps = row.step + 1;
            m_summary.applied_steps = std::max(m_summary.applied_steps, row.applied_step);
            m_summary.skipped_probing += row.skip_kind == SkipKind::Probing ? 1 : 0;
            m_summary.skipped_fault += row.skip_kind == SkipKind::Fault ? 1 : 0;
            m_summary.nonfinite_loss_steps += row.nonfinite_loss ? 1 : 0;
            if (is_bad(row) && !m_summary.first_nonfinite_step) m_summary.first_nonfinite_step = row.step;
            m_summary.final_loss = row.loss;
            if (row.loss_scale) m_summary.final_scale = row.loss_scale;
            m_summary.memory_peak_bytes = std::max(m_summary.memory_peak_bytes, row.memory_peak_bytes);
            m_summary.ended_ns = std::max(m_summary.ended_ns, row.time_ns);
            m_step_ns.push_back(row.step_ns);
        }
    }

    void finish() {
        if (m_step_ns.empty()) return;
        const auto middle = m_step_ns.begin() + static_cast<std::ptrdiff_t>(m_step_ns.size() / 2);
        std::nth_element(m_step_ns.begin(), middle, m_step_ns.end());
        double median = static_cast<double>(*middle);
        if (m_step_ns.size() % 2 == 0) {
            median = (median + static_cast<double>(*std::max_element(m_step_ns.begin(), middle))) / 2;
        }
        m_summary.step_ms_median = median / 1e6;
    }

  private:
    RunSummary& m_summary;
    std::vector<std::int64_t> m_step_ns;
};

/// Last and best of the validation split: fp32 evaluations where there are any, else those of the mode
/// itself.
void fill_metric(RunSummary& summary, const std::vector<EvaluationRow>& rows, const std::string& wanted) {
    const auto use = [&](bool fp32_only) {
        for (const EvaluationRow& row : rows) {
            if (row.split != "validation" || (fp32_only && row.precision != "fp32")) continue;
            if (summary.metric_name.empty()) summary.metric_name = wanted.empty() ? row.metric : wanted;
            if (row.metric != summary.metric_name) continue;
            summary.metric = row.value;
            summary.validation_samples = std::max(summary.validation_samples, row.samples);
            const bool larger_is_better = row.metric == "accuracy";
            const bool better = !summary.best_metric || (larger_is_better ? row.value > *summary.best_metric
                                                                          : row.value < *summary.best_metric);
            if (better && !std::isnan(row.value)) summary.best_metric = row.value;
        }
        return summary.metric.has_value();
    };
    if (!use(true) && !use(false)) summary.metric_name.clear();
}

}  // namespace

namespace {

/// A worker that fails before its first step records no support; the trial has asked the device.
void fill_from_trial(RunSummary& summary) {
    const auto text = read_file(RunFolder{summary.run_dir}.trial());
    if (!text) return;
    const auto json = record_json::parse(*text, "trial.json");
    if (!json) return;
    const auto trial = trial_report_from_json(*json);
    if (!trial) return;
    summary.support = trial->choice.support;
    summary.support_reason = trial->choice.reason;
}

}  // namespace

Result<RunSummary> summarize_run(const std::filesystem::path& run_folder) {
    RunSummary summary;
    std::error_code error;
    summary.run_dir = std::filesystem::absolute(run_folder, error).lexically_normal();
    if (!summary.run_dir.has_filename()) summary.run_dir = summary.run_dir.parent_path();  // "RUN/"
    fill_from_folder_name(summary);
    if (!std::filesystem::is_directory(run_folder, error)) {
        return Error{ErrorCode::InputOutput, "there is no run folder at " + run_folder.string(),
                     "see `mantissa runs list`"};
    }
    if (!std::filesystem::exists(RunFolder{run_folder}.database(), error)) {
        // Nothing recorded yet: waiting for its worker, or its worker died before the first row.
        const RunFolder folder{run_folder};
        const bool lost = RunLock::was_ever_taken(folder) && RunLock::is_free(folder);
        summary.state = lost ? RunState::Lost : RunState::Queued;
        if (lost) summary.state_reason = "the worker ended before its first record";
        return summary;
    }
    auto reader = RunReader::open(run_folder);
    if (!reader) return reader.error();
    // The state first: rows that come after it are newer, so an end state never goes with too few rows.
    const auto state = (*reader)->state();
    if (!state) return state.error();
    summary.state = state->state;
    summary.state_reason = state->reason;

    StepTotals totals(summary);
    std::vector<EvaluationRow> evaluations;
    for (;;) {
        auto rows = (*reader)->read_new(50'000);
        if (!rows) return rows.error();
        totals.add(rows->steps);
        evaluations.insert(evaluations.end(), rows->evaluations.begin(), rows->evaluations.end());
        for (const IncidentRow& row : rows->incidents)
            summary.poisoned = summary.poisoned || row.kind == "weights_poisoned";
        if (rows->steps.size() < 50'000) break;
    }
    totals.finish();
    const auto values = (*reader)->meta();
    if (!values) return values.error();
    fill_from_meta(summary, *values);
    if (!values->contains(meta::support)) fill_from_trial(summary);
    if (const auto scale = parse_double(text_of(*values, meta::final_scale))) summary.final_scale = *scale;
    fill_metric(summary, evaluations, text_of(*values, meta::metric));
    if (is_end_state(summary.state)) summary.ended_ns = std::max(summary.ended_ns, state->time_ns);
    return summary;
}

nlohmann::json to_json(const RunSummary& summary) {
    const auto optional_integer = [](const std::optional<std::int64_t>& value) {
        return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
    };
    nlohmann::json json{
        {"name", summary.name},
        {"model", summary.model},
        {"dataset", summary.dataset},
        {"comparison_id",
         summary.comparison_id.empty() ? nlohmann::json(nullptr) : nlohmann::json(summary.comparison_id)},
        {"started_ns", summary.started_ns},
        {"ended_ns", summary.ended_ns},
        {"mode", to_string(summary.mode)},
        {"requested", to_string(summary.requested)},
        {"effective", to_string(summary.effective)},
        {"support", to_string(summary.support)},
        {"support_reason", summary.support_reason},
        {"device", summary.device},
        {"device_name", summary.device_name},
        {"state", to_string(summary.state)},
        {"state_reason", summary.state_reason},
        {"run_dir", summary.run_dir.string()},
        {"planned_steps", summary.planned_steps},
        {"steps", summary.steps},
        {"resumed", to_json(summary.resumed)},
        {"applied_steps", summary.applied_steps},
        {"skipped_probing", summary.skipped_probing},
        {"skipped_fault", summary.skipped_fault},
        {"skipped_steps", summary.skipped_probing + summary.skipped_fault},
        {"nonfinite_loss_steps", summary.nonfinite_loss_steps},
        {"first_nonfinite_step", optional_integer(summary.first_nonfinite_step)},
        {"first_loss", number_to_json(summary.first_loss)},
        {"final_loss", number_to_json(summary.final_loss)},
        {"final_scale", number_to_json(summary.final_scale)},
        {"metric_name",
         summary.metric_name.empty() ? nlohmann::json(nullptr) : nlohmann::json(summary.metric_name)},
        {"metric", number_to_json(summary.metric)},
        {"best_metric", number_to_json(summary.best_metric)},
        {"validation_samples", summary.validation_samples},
        {"step_ms_median", number_to_json(summary.step_ms_median)},
        {"memory_peak_bytes", summary.memory_peak_bytes},
        {"poisoned", summary.poisoned},
        {"checkpoint", summary.checkpoint.empty() ? nlohmann::json(nullptr) : nlohmann::json(summary.checkpoint)},
        {"checkpoint_error",
         summary.checkpoint_error.empty() ? nlohmann::json(nullptr) : nlohmann::json(summary.checkpoint_error)},
    };
    if (!summary.linear_layers.empty()) json["linear_layers"] = nlohmann::json::parse(to_text(summary.linear_layers));
    return json;
}

}  // namespace mantissa
