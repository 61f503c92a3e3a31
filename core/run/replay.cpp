#include "run/replay.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "data/batch_source.h"
#include "engine/engine_error.h"
#include "engine/step_row.h"
#include "judge/format_lens.h"
#include "plan/plan_file.h"
#include "run/answer_of_all.h"
#include "run/environment.h"
#include "run/replay_comparison.h"
#include "run/replay_run.h"
#include "run/replay_watch.h"
#include "run/run_checkpoints.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
    throw EngineError({ErrorCode::BadPlan, what, hint});
}

template <typename T>
T taken(Result<T> result) {
    if (!result) throw EngineError(result.error());
    return std::move(result).value();
}

/// A run that stops or waits at its first bad step is done again with that step left out: the weights are the same.
RunPlan going_on(RunPlan plan) {
    const bool ends = plan.on_nonfinite == OnNonfinite::Stop || plan.on_nonfinite == OnNonfinite::Pause;
    if (ends && plan.compat == Compat::None) plan.on_nonfinite = OnNonfinite::Skip;
    return plan;
}

/// What makes no difference to a step's numbers is taken from `plan`.
bool trains_alike(const RunPlan& plan, RunPlan other) {
    other.name = plan.name;
    other.modes = plan.modes;
    other.launch.scope = plan.launch.scope;
    other.launch.order = plan.launch.order;
    other.evaluation = plan.evaluation;
    other.observe = plan.observe;
    other.repetitions = plan.repetitions;
    other.checkpoint = plan.checkpoint;
    return other == plan;
}

/// The micro-batches of a step: windows begin anew with every epoch.
std::vector<Batch> batches_of(RunParts& parts, const TrainingPlan& plan, const Replica& replica, std::int64_t step) {
    OrderedBatches source(parts.dataset, SampleOrder(parts.split.training, replica.order_seed(plan.seed)),
                          plan.batch_size, plan.drop_last);
    const std::int64_t size = plan.gradient_accumulation_steps;
    const std::int64_t windows = (source.batches_per_epoch() + size - 1) / size;
    source.begin(step / windows);
    source.skip(step % windows * size);
    std::vector<Batch> batches;
    for (std::int64_t i = 0; i < size; ++i) {
        auto batch = source.next();
        if (!batch) break;
        const torch::Device device = parts.accelerator.device();
        batches.push_back({batch->features.to(device), batch->labels.to(device)});
    }
    return batches;
}

const char* name_of(double value) { return std::isnan(value) ? "NaN" : "Inf"; }

/// NaN, Inf, or nothing when all weights are finite.
std::string bad_weight(Model& model) {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& parameter : model.parameters()) {
        const double largest = parameter.numel() == 0 ? 0 : parameter.abs().max().item<double>();
        if (!std::isfinite(largest)) return name_of(largest);
    }
    return "";
}

class Replay {
  public:
    Replay(const ReplayRequest& request, std::shared_ptr<Ranks> ranks);
    /// What this process found.
    ReplayAnswer run();

  private:
    void choose_start();
    void check_change() const;
    void go_to_step();
    void change_plan();
    void keep_state() const;
    void keep_state_of_ranks() const;
    void do_step();
    void go_on();
    void tell_births();
    void look_at_earlier_update();
    ReplayRun::Step next_step(ReplayWatch::Look look);
    [[nodiscard]] std::string bad_value(const StepFacts& facts);
    [[nodiscard]] bool is_any(bool own) const;
    [[nodiscard]] bool changes_at_start() const { return m_is_changed && m_change == m_answer.start_step; }

    const ReplayRequest& m_request;
    ReplayRanks m_ranks;
    Replica m_replica;  // of the control, where the run is one
    RunPlan m_original, m_changed;
    bool m_is_changed;        // the plan or the loss scale
    std::int64_t m_change;    // the first step with the change
    std::optional<CheckpointInfo> m_start;
    ReplayWatch m_watch;
    ReplayComparison m_comparison;
    std::unique_ptr<ReplayRun> m_run;
    std::optional<std::int64_t> m_weights_bad_after;  // the first such step on the way
    std::vector<Batch> m_previous_batches;            // of several processes, this one's of the step before
    ReplayAnswer m_answer;
};

Replay::Replay(const ReplayRequest& request, std::shared_ptr<Ranks> ranks)
    : m_request(request),
      m_ranks{request.ranks.value_or(RankPlace{}), std::move(ranks)},
      m_replica(taken(read_replica(request.run))),
      m_original(going_on(taken(read_plan_file(RunFolder{request.run}.plan())).plan)),
      m_changed(going_on(request.plan)),
      m_is_changed(request.loss_scale || !trains_alike(m_original, m_changed)),
      m_change(std::min(request.change_from.value_or(request.step), request.step)),
      m_watch({request.watch_phase, request.watch_place, request.watch_kernel, request.watch_tensor}),
      m_comparison(taken(ReplayComparison::open(request.run))) {
    m_answer.variant = request.variant;
    m_answer.variant.mode = request.plan.mixed_precision;
    if (!request.loss_scale) return;
    m_changed.loss_scale.initial = *request.loss_scale;
    m_changed.loss_scale.growth_factor = m_changed.loss_scale.backoff_factor = 1;
    m_changed.loss_scale.floor = std::min(m_changed.loss_scale.floor, *request.loss_scale);
}

void Replay::choose_start() {
    if (!m_request.state.empty()) m_start = taken(read_checkpoint_info(m_request.state));
    else if (!m_original.checkpoint.resume_from.empty()) m_start = taken(find_checkpoint(m_original.checkpoint.resume_from));
    m_answer.start_step = m_start ? m_start->step : 0;
    if (m_answer.start_step > m_request.step)
        refuse("the state is of step " + std::to_string(m_answer.start_step) + ", which lies behind step " +
                   std::to_string(m_request.step),
               "give an earlier state, or none to begin with the seed");
    m_change = std::max(m_change, m_answer.start_step);
}

void Replay::check_change() const {
    if (m_request.previous_batch && m_request.step == 0) refuse("step 0 has no batch before it", "leave this variant out");
    if (m_is_changed && !changes_at_start() && m_original.mixed_precision != m_changed.mixed_precision)
        refuse(std::string("a process has one mode: from step ") + std::to_string(m_answer.start_step) + " to step " +
                   std::to_string(m_change) + " it would be " + to_string(m_original.mixed_precision) + ", then " +
                   to_string(m_changed.mixed_precision),
               "replay the unchanged run with keep_state first, and begin with the state that it gives");
}

ReplayAnswer Replay::run() {
    const std::int64_t began = monotonic_ns();
    choose_start();
    check_change();
    m_run = std::make_unique<ReplayRun>(changes_at_start() ? m_changed : m_original, m_watch, m_replica, m_ranks);
    if (m_start) m_run->start_from(*m_start);
    if (changes_at_start() && m_request.loss_scale) m_run->fix_loss_scale(*m_request.loss_scale);
    go_to_step();
    keep_state();
    if (m_is_changed && !changes_at_start() && m_run->step() == m_change) change_plan();
    do_step();
    m_answer.reproduced = m_comparison.reproduced();
    m_answer.reproduced_reason = m_comparison.reason(environment_of(m_original, m_run->parts()));
    go_on();
    look_at_earlier_update();
    m_answer.variant.state = "done";
    m_answer.variant.from_step = m_change;
    m_answer.variant.seconds = static_cast<double>(monotonic_ns() - began) * 1e-9;
    return std::move(m_answer);
}

void Replay::go_to_step() {
    while (m_run->step() < m_request.step) {
        if (m_is_changed && !changes_at_start() && m_run->step() == m_change) change_plan();
        const std::int64_t step = m_run->step();
        const ReplayRun::Step done = next_step({});
        if (!m_is_changed || step < m_change) m_comparison.add(step_row(done.outcome.facts));
        if (const auto value = m_watch.place_value()) m_answer.producer_largest.push_back({step, *value});
        if (m_request.watch_ops && !m_weights_bad_after && !bad_weight(m_run->parts().bare_model()).empty())
            m_weights_bad_after = step;
        if (m_ranks.group && m_request.previous_batch && m_run->step() == m_request.step) m_previous_batches = m_run->runner().last_batches();
    }
}

void Replay::change_plan() {
    const Checkpoint state = m_run->state();
    m_run.reset();
    m_run = std::make_unique<ReplayRun>(m_changed, m_watch, m_replica, m_ranks);
    m_run->start_from(state, m_original);
    if (m_request.loss_scale) m_run->fix_loss_scale(*m_request.loss_scale);
}

void Replay::keep_state() const {
    if (m_request.keep_state.empty()) return;
    if (m_ranks.group) return keep_state_of_ranks();
    auto writer = taken(CheckpointWriter::begin(m_request.keep_state));
    const auto need = [](const Result<void>& done) {
        if (!done) throw EngineError(done.error());
    };
    const Checkpoint state = m_run->state();
    need(write_run_plan(RunFolder{m_request.run}, m_original, writer.folder() / "plan.json"));
    need(writer.add_shared(state));
    need(write_rank_files(writer.folder(), 0, state));
    taken(writer.finish(state));
}

void Replay::keep_state_of_ranks() const {
    Accelerator& accelerator = m_run->parts().accelerator;
    const auto plan = accelerator.register_save_state_pre_hook([this](const fs::path& hidden) {
        const auto done = write_run_plan(RunFolder{m_request.run}, m_original, hidden / "plan.json");
        if (!done) throw EngineError(done.error());
    });
    accelerator.save_state(m_request.keep_state);
}

/// What one process met holds for all: they go the same way.
bool Replay::is_any(bool own) const {
    if (!m_ranks.group) return own;
    std::vector<double> count{own ? 1.0 : 0.0};
    m_ranks.group->add_up(count);
    return count.front() > 0;
}

ReplayRun::Step Replay::next_step(ReplayWatch::Look look) {
    m_watch.begin_step(m_run->parts().bare_model(), std::move(look));
    const ReplayRun::Step step = m_run->next_step();
    m_watch.end_step(m_run->parts().bare_model(), m_run->runner());
    return step;
}

void Replay::do_step() {
    const auto scale = m_run->parts().accelerator.loss_scale_state();
    const StepRow* record = m_comparison.recorded(m_request.step);
    ReplayWatch::Look look{true, m_request.watch_ops, {}, false, {}};
    if (scale) look.loss_scale = scale->scale;
    look.is_probing = !m_is_changed && record != nullptr && record->skip_kind == SkipKind::Probing;
    if (m_request.previous_batch) {
        auto batches = m_ranks.group ? m_previous_batches : batches_of(m_run->parts(), m_original.training, m_replica, m_request.step - 1);
        if (batches.empty()) refuse("the step before was not done here, so its batch isn't known", "begin with a state of an earlier step");
        look.other_batch = [batches = std::move(batches)](std::size_t i) {
            return std::optional<Batch>(batches[std::min(i, batches.size() - 1)]);
        };
    }
    const StepFacts facts = next_step(std::move(look)).outcome.facts;
    if (!m_is_changed && !m_request.previous_batch) m_comparison.add(step_row(facts));
    VariantReport& variant = m_answer.variant;
    variant.loss = facts.loss;
    variant.value = bad_value(facts);
    variant.this_step_finite = variant.value.empty();
    if (*variant.this_step_finite) return;
    tell_births();
    variant.same_place = !variant.place.empty() && variant.place == m_request.watch_place;
}

std::string Replay::bad_value(const StepFacts& facts) {
    if (facts.nonfinite_loss) return name_of(facts.loss);
    if (const OutputReading* reading = m_watch.outputs().first_nonfinite()) return reading->holds_nan ? "NaN" : "Inf";
    if (facts.nonfinite_grads > 0 || facts.found_inf) return facts.loss_scale ? "skipped" : name_of(facts.grad_norm);
    return bad_weight(m_run->parts().bare_model());
}

void Replay::tell_births() {
    m_answer.variant.place = m_watch.bad_place();
    if (!m_watch.birth()) return;
    m_answer.birth = m_watch.birth();
    m_answer.limit = largest_of_dtype(m_answer.birth->producer.result.dtype);
    m_answer.ops = m_answer.birth->before;
    m_answer.ops.push_back(m_answer.birth->producer);
    m_answer.ops.insert(m_answer.ops.end(), m_answer.birth->after.begin(), m_answer.birth->after.end());
}

// The step found weights that were bad already: their birth is in the update of a step on the way, which is done once more.
void Replay::look_at_earlier_update() {
    const bool began_bad = is_any(m_answer.birth && m_answer.birth->producer.phase == "parameter");
    if (!began_bad || !m_weights_bad_after || (m_is_changed && *m_weights_bad_after >= m_change)) return;
    ReplayRequest earlier = m_request;
    earlier.plan = m_original;
    earlier.step = *m_weights_bad_after;
    earlier.change_from.reset();
    earlier.previous_batch = false;
    earlier.loss_scale.reset();
    earlier.later_steps = 0;
    earlier.keep_state.clear();
    m_run.reset();
    ReplayAnswer answer = Replay(earlier, m_ranks.group).run();
    if (!answer.birth) return;
    m_answer.birth = std::move(answer.birth);
    m_answer.birth->step = *m_weights_bad_after;
    m_answer.ops = std::move(answer.ops);
    m_answer.limit = answer.limit;
    m_answer.variant.place = m_answer.birth->place();
}

// A cycle's schedule has no rate for a step behind its end.
void Replay::go_on() {
    const bool has_end = m_original.training.scheduler.name == "one_cycle";
    VariantReport& variant = m_answer.variant;
    std::vector<double> losses;
    while (variant.later_steps < m_request.later_steps && !variant.later_bad_at) {
        if (has_end && m_run->step() >= m_run->parts().planned_steps) break;
        const ReplayRun::Step done = next_step({true, false, {}, false, {}});
        const StepFacts& facts = done.outcome.facts;
        ++variant.later_steps;
        losses.push_back(facts.loss);
        const bool is_bad_gradient = facts.nonfinite_grads > 0 && !facts.loss_scale;
        if (is_any(facts.nonfinite_loss || is_bad_gradient || done.skip_kind == SkipKind::Fault || !m_watch.are_outputs_finite()))
            variant.later_bad_at = variant.later_steps;
    }
    if (losses.empty()) return;
    const std::size_t counted = std::min<std::size_t>(losses.size(), 5);
    double sum = 0;
    for (std::size_t i = losses.size() - counted; i < losses.size(); ++i) sum += losses[i];
    variant.later_loss = sum / static_cast<double>(counted);
}

}  // namespace

Result<ReplayAnswer> replay_run(const ReplayRequest& request, const std::shared_ptr<Ranks>& ranks) {
    ReplayAnswer own = Replay(request, ranks).run();
    return ranks ? answer_of_all(*ranks, own) : own;
}

}  // namespace mantissa
