#include "launch/replay_variants.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "plan/nearest.h"
#include "plan/resume_check.h"
#include "plan/validate.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr double longest_lead_seconds = 120;   // that the steps before the bad one may take again
constexpr std::int64_t half_rate_lead = 50;    // without a kept state
constexpr const char* rate_path = "training.optimizer.learning_rate";

bool is_known(const std::string& id) {
    const auto& ids = replay_variant_ids();
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Precision mode_of(const std::string& id, Precision run) {
    if (id == "no") return Precision::No;
    if (id == "bf16") return Precision::Bf16;
    return run;
}

/// No op made the first bad value where it was there before the forward pass, or came with the update.
bool is_made_by_an_op(const BirthReport& birth) {
    const std::string& phase = birth.producer.phase;
    return phase == "forward" || phase == "loss" || phase == "backward";
}

std::string island_of(const BirthReport& birth) {
    if (!is_made_by_an_op(birth)) return "";
    return birth.producer.module.empty() ? "aten::" + birth.producer.op : birth.producer.place();
}

}  // namespace

const std::vector<std::string>& replay_variant_ids() {
    static const std::vector<std::string> ids{"as_was", "no", "scale_1", "bf16", "island", "previous_batch", "half_rate"};
    return ids;
}

Result<SourcedPlan> changed_plan(const ReplaySubject& subject, const VariantReport& variant, const std::string& detail) {
    const RunPlan& plan = subject.plan.plan;
    auto saved = checkpoint_layer(plan, "run " + subject.run.filename().string());
    if (!saved) return saved.error();
    PlanLayer edit{ValueSource::Edit, {}, {}};
    const auto change = [&](const char* path, const nlohmann::json& value) { edit.values.push_back({path, value.dump(), detail}); };
    if (variant.mode != subject.mode()) change("mixed_precision", to_string(variant.mode));
    if (!variant.island.empty()) {
        auto islands = plan.fp32_islands;
        if (std::find(islands.begin(), islands.end(), variant.island) == islands.end()) islands.push_back(variant.island);
        change("fp32_islands", islands);
    }
    if (variant.id == "half_rate") change(rate_path, plan.training.optimizer.learning_rate / 2);
    for (const std::string& setting : variant.settings)
        if (auto set = edit.set_assignment(setting); !set) return set.error();
    auto changed = resolve_plan({std::move(*saved), std::move(edit)}, PlanUse::Train);
    if (!changed) return changed.error();
    if (const auto fits = check_resume(plan, variant.from_step, changed->plan); !fits) return fits.error();
    return changed;
}

Result<ReplayVariants> ReplayVariants::plan(const ReplaySubject& subject, const ReplayOptions& options) {
    ReplayVariants variants(subject, options);
    for (const std::string& id : options.variants) {
        if (is_known(id)) continue;
        const auto near = nearest_names(id, replay_variant_ids());
        return Error{ErrorCode::Usage, "--variants: there is no variant \"" + id.substr(0, 60) + "\"",
                     near.empty() ? "use " + join_names(replay_variant_ids()) : "did you mean " + join_names(near) + "?"};
    }
    if (options.later_steps < 0 || options.later_steps > 100'000)
        return Error{ErrorCode::Usage, "--later is " + std::to_string(options.later_steps), "use a whole number from 0 to 100000"};
    // Of a healthy step there is nothing to find out but what was asked for.
    const bool asks_only = subject.is_healthy || !options.what_if.empty();
    for (const std::string& id : replay_variant_ids()) {
        const auto& asked = options.variants;
        const bool is_asked = std::find(asked.begin(), asked.end(), id) != asked.end();
        // The first replay is the step as it was: its line costs nothing, and a verdict needs it.
        if (is_asked || id == "as_was" || (asked.empty() && !asks_only)) variants.m_ids.push_back(id);
    }
    if (options.what_if.empty()) return variants;
    variants.m_ids.emplace_back("custom");
    if (const auto fits = changed_plan(subject, variants.line("custom", {}), "--what-if"); !fits) return fits.error();
    return variants;
}

std::int64_t ReplayVariants::later_steps() const {
    const RunPlan& plan = m_subject->plan.plan;
    const auto planned = known_steps(plan);
    // A one_cycle schedule has no rate for steps after its last one.
    if (plan.training.scheduler.name != "one_cycle" || !planned) return m_options.later_steps;
    return std::clamp<std::int64_t>(*planned - 1 - m_subject->step, 0, m_options.later_steps);
}

ReplayRequest ReplayVariants::base(const VariantReport& variant) const {
    ReplayRequest request;
    request.run = m_subject->run;
    request.plan = m_subject->plan.plan;
    request.plan.modes.clear();
    request.step = m_subject->step;
    request.later_steps = later_steps();
    request.variant = variant;
    return request;
}

std::int64_t ReplayVariants::start_step() const {
    const CheckpointInfo* newest = m_subject->state_at_or_before(m_subject->step);
    const CheckpointInfo* older = newest == nullptr ? nullptr : m_subject->state_at_or_before(m_subject->step - 1);
    if (older == nullptr) return newest == nullptr ? 0 : newest->step;
    return m_subject->recorded_seconds(older->step, newest->step) <= longest_lead_seconds ? older->step : newest->step;
}

ReplayRequest ReplayVariants::unchanged(const fs::path& keep_state) const {
    VariantReport variant = line("as_was", {});
    ReplayRequest request = base(variant);
    if (const CheckpointInfo* start = m_subject->state_at_or_before(start_step())) request.state = start->path;
    request.watch_ops = true;
    if (m_subject->incident && m_subject->incident->birth) watch_birth(request, *m_subject->incident->birth);
    if (m_subject->state_at(m_subject->step) == nullptr && m_subject->step > 0) request.keep_state = keep_state;
    return request;
}

std::int64_t ReplayVariants::half_rate_from() const {
    if (const CheckpointInfo* older = m_subject->state_at_or_before(m_subject->step - 1)) return older->step;
    return std::max(m_subject->first_step, m_subject->step - half_rate_lead);
}

VariantReport ReplayVariants::line(const std::string& id, const std::optional<BirthReport>& birth) const {
    VariantReport variant;
    variant.id = id;
    variant.mode = mode_of(id, m_subject->mode());
    variant.from_step = id == "half_rate" ? half_rate_from() : m_subject->step;
    if (id == "island" && birth) variant.island = island_of(*birth);
    if (id == "custom") {
        variant.settings = m_options.what_if;
        for (const std::string& setting : variant.settings)  // a mode is shown as such
            if (setting.starts_with("mixed_precision="))
                variant.mode = parse_precision(setting.substr(setting.find('=') + 1)).value_or(variant.mode);
    }
    if (const std::string reason = why_left_out(variant, birth); !reason.empty()) {
        variant.state = "left_out";
        variant.reason = reason;
    }
    return variant;
}

std::string ReplayVariants::why_left_out(const VariantReport& variant, const std::optional<BirthReport>& birth) const {
    const Precision mode = m_subject->mode();
    const std::string own = std::string("the run itself was in ") + to_string(mode);
    if ((variant.id == "no" && mode == Precision::No) || (variant.id == "bf16" && mode == Precision::Bf16)) return own;
    if (variant.id == "scale_1" && mode != Precision::Fp16) return own + ", which has no loss scale";
    if (variant.id == "island" && mode == Precision::No) return own + ": everything is in fp32";
    if (variant.id == "island" && !birth) return "no op was found that made the first bad value";
    if (variant.id == "island" && variant.island.empty())
        return "the first bad value was made by no op of the model: it was born in phase " + birth->producer.phase;
    if (variant.id == "previous_batch" && m_subject->step <= m_subject->first_step) return "there is no batch before step " + std::to_string(m_subject->step);
    if (variant.id == "half_rate" && variant.from_step >= m_subject->step) return "there is no step before step " + std::to_string(m_subject->step);
    if (variant.id == "half_rate" && m_subject->plan.plan.training.scheduler.name == "one_cycle")
        return "a one_cycle schedule sets the rate of every step itself";
    return "";
}

std::vector<VariantReport> ReplayVariants::grid(const std::optional<BirthReport>& birth) const {
    std::vector<VariantReport> lines;
    lines.reserve(m_ids.size());
    for (const std::string& id : m_ids) lines.push_back(line(id, birth));
    return lines;
}

Result<ReplayRequest> ReplayVariants::request(const VariantReport& variant, const fs::path& state) const {
    ReplayRequest request = base(variant);
    request.state = state;
    request.previous_batch = variant.id == "previous_batch";
    // Of several processes each knows its own batch from the step before, which is done again.
    if (request.previous_batch && request.plan.launch.processes > 1) {
        const CheckpointInfo* older = m_subject->state_at_or_before(m_subject->step - 1);
        request.state = older == nullptr ? fs::path() : older->path;
    }
    if (variant.id == "scale_1") request.loss_scale = 1.0;
    if (variant.id == "half_rate") {
        request.change_from = variant.from_step;
        const CheckpointInfo* older = m_subject->state_at_or_before(variant.from_step);
        request.state = older == nullptr ? fs::path() : older->path;
    }
    auto changed = changed_plan(*m_subject, variant, "replay");
    if (!changed) return changed.error();
    request.plan = std::move(changed->plan);
    return request;
}

std::string ReplayVariants::wider_island(const std::string& island, const std::optional<BirthReport>& birth) {
    if (!birth || birth->producer.module.empty() || birth->producer.module == island) return "";
    return birth->producer.module;
}

}  // namespace mantissa
