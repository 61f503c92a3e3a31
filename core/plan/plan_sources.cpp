#include "plan/plan_sources.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "plan/catalogue.h"
#include "plan/field_codec.h"
#include "plan/plan_fields.h"
#include "plan/plan_file.h"
#include "plan/plan_json.h"
#include "plan/validate.h"

namespace mantissa {
namespace {

using codec::Json;

constexpr std::array<std::pair<ValueSource, const char*>, 8> source_names{
    {{ValueSource::Default, "default"},
     {ValueSource::Config, "config"},
     {ValueSource::Environment, "environment"},
     {ValueSource::Checkpoint, "checkpoint"},
     {ValueSource::Plan, "plan"},
     {ValueSource::Preset, "preset"},
     {ValueSource::Flag, "flag"},
     {ValueSource::Edit, "edit"}}};

int strength(ValueSource source) {
    switch (source) {
        case ValueSource::Default:
            return 0;
        case ValueSource::Config:
            return 1;
        case ValueSource::Environment:
            return 2;
        case ValueSource::Checkpoint:
            return 3;
        case ValueSource::Plan:
        case ValueSource::Preset:
            return 4;
        case ValueSource::Flag:
        case ValueSource::Edit:
            return 5;
    }
    return 0;
}

Error from(const std::string& detail, const Error& error) {
    return {error.code, detail + ": " + error.message, error.hint};
}

// An argument of a program is any bytes; a plan is JSON.
bool is_utf8(const Json& value) {
    try {
        return !value.dump().empty();
    } catch (const Json::type_error&) {
        return false;
    }
}

struct Candidate {
    ValueSource source;
    std::string detail;
    Json value;
};

/// Puts the layers' values together, strongest last. epochs and max_steps are two spellings of one decision.
class Merge {
  public:
    explicit Merge(const std::vector<PlanLayer>& layers) {
        for (const PlanLayer& layer : layers)
            for (const LayerValue& value : layer.values)
                m_candidates[value.path].push_back(
                    {layer.source, value.detail, Json::parse(value.value_json)});
        for (auto& [path, list] : m_candidates)
            std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
                return strength(a.source) < strength(b.source);
            });
    }

    Result<void> apply(SourcedPlan& result) const {
        for (const auto& [path, list] : m_candidates) {
            const PlanField* field = find_plan_field(path);
            for (const Candidate& candidate : list) {
                RunPlan scratch;
                if (auto checked = field->set(*field, scratch, candidate.value); !checked)
                    return candidate.detail.empty() ? checked.error()
                                                    : from(candidate.detail, checked.error());
            }
            const Candidate& winner = list.back();
            if (auto set = field->set(*field, result.plan, winner.value); !set) return set.error();
            ValueOrigin origin{winner.source, winner.detail, field_text(*field, result.plan), {}};
            for (auto loser = std::next(list.rbegin()); loser != list.rend(); ++loser)
                origin.overruled.push_back({loser->source, loser->detail, shown(*field, loser->value)});
            result.origins[path] = std::move(origin);
        }
        settle_length(result);
        return {};
    }

    [[nodiscard]] int strength_of(const std::string& path) const {
        const auto found = m_candidates.find(path);
        return found == m_candidates.end() || found->second.back().value.is_null()
                   ? -1
                   : strength(found->second.back().source);
    }

  private:
    static std::string shown(const PlanField& field, const Json& value) {
        RunPlan scratch;
        const auto set = field.set(field, scratch, value);
        return set.ok() ? field_text(field, scratch) : value_to_text(value);
    }

    // `--max-steps 50` on a plan with epochs: the stronger source decides, the other is shown as overruled.
    // Equal strength is a contradiction, which validation reports.
    void settle_length(SourcedPlan& result) const {
        const int epochs = strength_of("training.epochs"), steps = strength_of("training.max_steps");
        if (epochs < 0 || steps < 0 || epochs == steps) return;
        const bool steps_win = steps > epochs;
        const std::string winner = steps_win ? "training.max_steps" : "training.epochs";
        const std::string loser = steps_win ? "training.epochs" : "training.max_steps";
        if (steps_win)
            result.plan.training.epochs.reset();
        else
            result.plan.training.max_steps.reset();
        const ValueOrigin lost = result.origins[loser];
        const std::string unit = steps_win ? " epochs" : " steps";
        result.origins[winner].overruled.push_back({lost.source, lost.detail, lost.value + unit});
        result.origins.erase(loser);
    }

    std::map<std::string, std::vector<Candidate>> m_candidates;
};

void take_modes(SourcedPlan& result) {
    if (result.plan.modes.empty()) {
        result.plan.modes = {Precision::No, Precision::Fp16, Precision::Bf16};
        result.origins["modes"] = {ValueSource::Default, "", "no,fp16,bf16", {}};
    }
    auto& modes = result.plan.modes;
    if (std::find(modes.begin(), modes.end(), Precision::No) == modes.end()) {
        modes.insert(modes.begin(), Precision::No);
        result.notes.emplace_back(
            "the mode no was added: it is the control that the others are compared with");
    }
    // In a comparison each run has its own mode, so every source of mixed_precision is overruled by the list.
    const auto written = result.origins.find("mixed_precision");
    if (written != result.origins.end()) {
        const ValueOrigin lost = written->second;
        ValueOrigin& origin = result.origins["modes"];
        origin.overruled.push_back({lost.source, lost.detail, "mixed_precision " + lost.value});
        for (const OverruledValue& value : lost.overruled)
            origin.overruled.push_back({value.source, value.detail, "mixed_precision " + value.value});
        result.origins.erase("mixed_precision");
    }
    result.plan.mixed_precision = Precision::No;
    result.origins["modes"].value = field_text(*find_plan_field("modes"), result.plan);
}

// Accelerate's way to say it: more than one process is a launch of ranks, unless the scope was named.
void take_scope(SourcedPlan& result) {
    const auto processes = result.origins.find("launch.processes");
    if (result.plan.launch.processes < 2 || processes == result.origins.end() || result.origins.contains("launch.scope")) return;
    result.plan.launch.scope = LaunchScope::Ranks;
    result.origins["launch.scope"] = {processes->second.source, processes->second.detail, to_string(LaunchScope::Ranks), {}};
}

void take_compare_length(SourcedPlan& result, const Merge& merge, const CompareDefaults& compare) {
    const int told = std::max(merge.strength_of("training.epochs"), merge.strength_of("training.max_steps"));
    if (told >= strength(ValueSource::Flag)) return;
    // Steps written into a plan file of one's own are a word about length; a preset's are for train.
    const auto written = result.origins.find("training.max_steps");
    if (written != result.origins.end() && written->second.source == ValueSource::Plan) return;
    TrainingPlan& training = result.plan.training;
    // Epochs of a data file are of unknown length until it is read.
    const bool has_length =
        training.max_steps.has_value() || (training.epochs.has_value() && result.plan.dataset.file.empty());
    if (has_length && training.batch_size > 0 && !compare.is_fixed &&
        planned_steps(of_all_ranks(result.plan), planned_samples(result.plan.dataset).training) <= compare.steps)
        return;
    if (training.max_steps == compare.steps && !training.epochs) return;
    ValueOrigin origin{ValueSource::Default, compare.detail, std::to_string(compare.steps), {}};
    for (const char* path : {"training.epochs", "training.max_steps"}) {
        const auto found = result.origins.find(path);
        if (found == result.origins.end()) continue;
        const char* unit = std::string_view(path) == "training.epochs" ? " epochs" : " steps";
        origin.overruled.push_back({found->second.source, found->second.detail, found->second.value + unit});
        result.origins.erase(found);
    }
    training.epochs.reset();
    training.max_steps = compare.steps;
    result.origins["training.max_steps"] = std::move(origin);
}

Result<void> take_compat(SourcedPlan& result) {
    std::set<std::string> set_paths;
    for (const auto& [path, origin] : result.origins) set_paths.insert(path);
    const RunPlan before = result.plan;
    if (auto done = apply_compat(result.plan, set_paths); !done) {
        const auto compat = result.origins.find("compat");
        return compat == result.origins.end() || compat->second.detail.empty()
                   ? done.error()
                   : from(compat->second.detail, done.error());
    }
    for (const PlanField& field : plan_fields())
        if (field_text(field, before) != field_text(field, result.plan))
            result.origins[field.path] = {
                result.origins["compat"].source, "compat = accelerate", field_text(field, result.plan), {}};
    return {};
}

}  // namespace

const char* to_string(ValueSource source) {
    for (const auto& [value, name] : source_names)
        if (value == source) return name;
    return "";
}

std::optional<ValueSource> parse_value_source(std::string_view text) {
    for (const auto& [value, name] : source_names)
        if (text == name) return value;
    return std::nullopt;
}

std::string describe_source(ValueSource source, const std::string& detail) {
    const std::string kind = to_string(source);
    if (source == ValueSource::Default && !detail.empty()) return kind + ": " + detail;
    return detail.empty() ? kind : (detail.starts_with(kind) ? detail : kind + " " + detail);
}

std::vector<std::string> SourcedPlan::overruled_lines() const {
    std::vector<std::string> lines;
    for (const auto& [path, origin] : origins)
        for (const OverruledValue& lost : origin.overruled) {
            if (lost.value == origin.value) continue;  // two sources that agree: nothing was overruled
            lines.push_back(path + " " + origin.value + " (" + describe_source(origin.source, origin.detail) +
                            ") overrules " + lost.value + " (" + describe_source(lost.source, lost.detail) +
                            ")");
        }
    return lines;
}

Result<void> PlanLayer::set_text(const std::string& path, std::string_view text, const std::string& detail) {
    const std::string name = name_path_of_object(path);
    const PlanField* field = find_plan_field(name.empty() ? path : name);
    if (!field) return from(detail, unknown_field(path));
    const Json value = value_from_text(*field, text);
    RunPlan scratch;
    if (auto checked = field->set(*field, scratch, value); !checked) return from(detail, checked.error());
    if (!is_utf8(value))
        return from(detail, {ErrorCode::BadPlan, field->path + " is " + codec::shown(value) + ", not UTF-8",
                             "write it in UTF-8"});
    std::erase_if(values, [field](const LayerValue& old) { return old.path == field->path; });
    values.push_back({field->path, value.dump(), detail});
    return {};
}

Result<void> PlanLayer::set_assignment(std::string_view assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return Error{ErrorCode::BadPlan, "--set: \"" + std::string(assignment) + "\" is not key=value",
                     "for example --set training.batch_size=64"};
    const std::size_t before = values.size();
    if (auto set =
            set_text(std::string(assignment.substr(0, equals)), assignment.substr(equals + 1), "--set");
        !set)
        return set;
    if (values.size() > before) return {};
    return Error{ErrorCode::BadPlan, "--set: " + values.back().path + " is given twice", "give it once"};
}

Result<PlanLayer> plan_text_layer(std::string_view text, ValueSource source, const std::string& detail) {
    auto object = plan_object_of(text);
    if (!object) return from(detail, object.error());
    auto settings = read_settings(*object);
    if (!settings) return from(detail, settings.error());
    PlanLayer layer{source, {}, {}};
    for (PlanSetting& setting : *settings)
        layer.values.push_back({setting.path, std::move(setting.value_json), detail});
    return layer;
}

Result<PlanLayer> checkpoint_layer(const RunPlan& saved, const std::string& detail) {
    const RunPlan defaults;
    PlanLayer layer{ValueSource::Checkpoint, {}, {}};
    for (const PlanField& field : plan_fields()) {
        if (field.path == "checkpoint.resume_from" || field.path == "modes") continue;
        Json value = field.get(saved);
        if (value != field.get(defaults)) layer.values.push_back({field.path, value.dump(), detail});
    }
    return layer;
}

Result<SourcedPlan> merge_plan(const std::vector<PlanLayer>& layers, PlanUse use,
                               const CompareDefaults& compare) {
    SourcedPlan result;
    for (const PlanLayer& layer : layers)
        result.notes.insert(result.notes.end(), layer.notes.begin(), layer.notes.end());
    const Merge merge(layers);
    if (auto applied = merge.apply(result); !applied) return applied.error();
    if (use == PlanUse::Compare) {
        take_modes(result);
        take_compare_length(result, merge, compare);
    }
    take_scope(result);
    if (auto done = take_compat(result); !done) return done.error();
    return result;
}

Result<SourcedPlan> resolve_plan(const std::vector<PlanLayer>& layers, PlanUse use,
                                 const CompareDefaults& compare) {
    auto merged = merge_plan(layers, use, compare);
    if (!merged) return merged;
    const auto issues = find_plan_issues(merged->plan);
    if (issues.empty()) return merged;
    const auto origin = merged->origins.find(issues.front().path);
    if (origin == merged->origins.end() || origin->second.detail.empty()) return issues.front().error;
    return from(origin->second.detail, issues.front().error);
}

}  // namespace mantissa
