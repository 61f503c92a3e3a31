#include "run/tensor_watch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "record/meta_keys.h"

namespace mantissa {
namespace {

constexpr std::int64_t tell_costs_every_ns = 1'000'000'000;
constexpr std::int64_t looks_per_record = 25, least_look_distance = 2;

/// Adds the time of a scope to a sum.
class Stopwatch {
  public:
    explicit Stopwatch(std::int64_t& sum) : m_sum(sum), m_start(monotonic_ns()) {}
    ~Stopwatch() { m_sum += monotonic_ns() - m_start; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    std::int64_t& m_sum;
    std::int64_t m_start;
};

// What a row takes in the recording: the numbers and the texts.
std::int64_t bytes_of(const TensorStatRow& row) {
    constexpr std::size_t numbers = 100;
    return static_cast<std::int64_t>(numbers + row.tensor.size() + row.dtype.size() + row.exponents.size());
}

std::int64_t whole_window(const RunPlan& plan) {
    const AcceleratorOptions options = accelerator_options(plan);
    return options.short_window == ShortWindow::RightSized ? options.gradient_accumulation_steps.value_or(1) : 0;
}

/// In memory of our own, so that what the meter tells of a run's memory stays that of the training.
torch::Tensor copy_of(const torch::Tensor& tensor, std::vector<std::byte>& bytes) {
    if (!tensor.device().is_cpu() || !tensor.is_non_overlapping_and_dense()) return tensor.detach().clone();
    bytes.resize(tensor.nbytes());
    std::memcpy(bytes.data(), tensor.const_data_ptr(), bytes.size());
    return at::from_blob(bytes.data(), tensor.sizes(), tensor.strides(), tensor.options().requires_grad(false));
}

}  // namespace

TensorWatch::TensorWatch(const LoopContext& context)
    : m_plan(context.plan),
      m_parts(context.parts),
      m_session(context.session),
      m_window_steps(whole_window(context.plan)),
      m_schedule(context.plan.observe.level, context.plan.observe.every_steps),
      m_maxima(std::max(least_look_distance, context.plan.observe.every_steps / looks_per_record)) {
    for (const auto& entry : m_parts.bare_model().named_parameters()) {
        m_names.push_back(entry.key());
        m_parameters.push_back(entry.value());
    }
    m_gradients.resize(m_parameters.size());
    m_last_parameter.resize(m_parameters.size());
    context.incident_sources.parameters = m_names;
    context.incident_sources.last_extremes = [this] { return last_extremes(); };
    m_session.recorder.meta(meta::parameters, nlohmann::json(m_names).dump());
    m_session.recorder.meta(meta::watch_level, std::to_string(m_schedule.level()));
}

void TensorWatch::before_step(std::int64_t step) {
    const Stopwatch total(m_ns);
    settle_records();
    if (const auto level = m_session.control.watch_level(); level && *level != m_schedule.level()) {
        m_schedule.set_level(*level);
        m_session.recorder.meta(meta::watch_level, std::to_string(*level));
    }
    m_is_watched = m_schedule.is_due(step);
    m_is_looked_at = !m_is_watched && is_looked_at(step);
    m_sees_outputs = m_is_watched || m_is_looked_at;
    m_looked_step = step;
    m_places.clear();
}

OutputWatch* TensorWatch::outputs(std::int64_t /*step*/) {
    // Asked before every forward pass: only that of the first micro-batch is looked at.
    return std::exchange(m_sees_outputs, false) ? this : nullptr;
}

void TensorWatch::output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& /*operands*/,
                         const torch::Tensor& result) {
    const Stopwatch total(m_ns);
    std::string place = module.empty() || op.empty() ? module + op : module + "." + op;
    const int times = ++m_places[place];  // a layer that is used twice in a pass: "shared", "shared#2"
    if (times > 1) place += "#" + std::to_string(times);
    if (m_is_looked_at) return look_at(place, result);
    const Stopwatch records(m_record_ns);
    m_records.add(place, TensorRole::Output, result);
}

// Of the control alone: what is foretold is foretold from it.
bool TensorWatch::is_looked_at(std::int64_t step) const {
    return m_schedule.level() > 0 && m_plan.mixed_precision == Precision::No && m_maxima.is_due(step);
}

void TensorWatch::look_at(const std::string& place, const torch::Tensor& result) {
    if (!at::isFloatingType(result.scalar_type()) || result.layout() != at::kStrided) return;
    if (result.device().is_cpu()) {
        TensorExtremes extremes({result});
        m_maxima.look(m_looked_step, place, extremes.nonfinite()[0] > 0 ? INFINITY : extremes.largest()[0]);
        return;
    }
    m_looked_places.push_back(place);
    m_looked.push_back(packed_extremes({result}, 1));
}

// They are read when the next step has been queued: a GPU goes on meanwhile.
void TensorWatch::send_looks() {
    settle_looks();
    if (m_looked.empty()) return;
    m_sent_looks = {std::exchange(m_looked_places, {}), m_looked_step, Readback(at::cat(std::exchange(m_looked, {}), 1))};
}

void TensorWatch::settle_looks() {
    const Looks looks = std::exchange(m_sent_looks, {});
    if (looks.row.is_empty()) return;
    const double* const values = looks.row.values().const_data_ptr<double>();
    for (std::size_t i = 0; i < looks.places.size(); ++i) {
        const bool is_over = values[looks.places.size() + i] > 0;
        m_maxima.look(looks.step, looks.places[i], is_over ? INFINITY : static_cast<float>(values[i]));
    }
}

// What the accelerator is about to multiply the gradients with: the loss scale goes, a short window is weighted up.
double TensorWatch::unscaling(std::size_t micro_batches) const {
    const auto scale = m_parts.accelerator.loss_scale_state();
    const double factor = scale ? 1.0 / scale->scale : 1.0;
    const auto count = static_cast<std::int64_t>(micro_batches);
    return count > 0 && count < m_window_steps ? factor * static_cast<double>(m_window_steps) / static_cast<double>(count) : factor;
}

void TensorWatch::read_gradients() {
    for (std::size_t i = 0; i < m_parameters.size(); ++i) m_gradients[i] = m_parameters[i].grad();
}

// They are freed when the next step begins: nothing may hold them longer.
void TensorWatch::let_go_of_gradients() {
    for (torch::Tensor& gradient : m_gradients) gradient.reset();
}

void TensorWatch::before_update(std::int64_t step, const std::vector<Batch>& micro_batches) {
    const Stopwatch total(m_ns);
    const double factor = unscaling(micro_batches.size());
    read_gradients();
    m_open = {step, TensorExtremes(m_gradients, factor), {}};
    if (!m_is_watched) return let_go_of_gradients();
    const Stopwatch records(m_record_ns);
    m_before_bytes.resize(m_parameters.size());
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        m_records.add(m_names[i], TensorRole::Weight, m_parameters[i]);
        m_records.add(m_names[i], TensorRole::Gradient, m_gradients[i], factor);
        m_before.push_back(copy_of(m_parameters[i], m_before_bytes[i]));
    }
    let_go_of_gradients();
}

void TensorWatch::after_step(const StepOutcome& outcome, const std::vector<Batch>& /*micro_batches*/) {
    {
        const Stopwatch total(m_ns);
        send_looks();
        settle_extremes();
        m_open.parameter = TensorExtremes(m_parameters);
        m_done = std::exchange(m_open, {});
        if (!m_done.gradient.is_on_device() && !m_done.parameter.is_on_device()) settle_extremes();
        if (m_is_watched) {
            const Stopwatch records(m_record_ns);
            if (!outcome.facts.skipped) record_updates();
            m_before.clear();
            m_before_bytes.clear();
            m_records_step = outcome.facts.step;
            ++m_record_steps;
            if (!m_records.is_on_device()) settle_records();
        }
        const auto &before = outcome.facts.loss_scale, &after = outcome.facts.loss_scale_after;
        if (before && after && *after > *before) m_schedule.scale_grew();
        ++m_steps;
    }
    if (monotonic_ns() - m_told_at_ns >= tell_costs_every_ns) tell_costs();
}

void TensorWatch::record_updates() {
    // As the update saw them: unscaled and clipped.
    read_gradients();
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (m_gradients[i].defined()) m_records.add_update(m_names[i], m_before[i], m_parameters[i], m_gradients[i]);
    }
    let_go_of_gradients();
}

void TensorWatch::settle_extremes() {
    if (m_done.step < 0) return;
    ExtremesRow row;
    row.first_step = m_done.step;
    row.gradient = std::move(m_done.gradient.largest());
    row.nonfinite = std::move(m_done.gradient.nonfinite());
    row.parameter = std::move(m_done.parameter.largest());
    m_last_parameter = row.parameter;
    m_done = {};
    for (ExtremesRow& window : m_window.push(row)) m_session.recorder.extremes(std::move(window));
    m_ring.push(std::move(row));
}

void TensorWatch::settle_records() {
    if (!m_records.empty() && m_records_step >= 0) push(m_records.take(m_records_step));
}

void TensorWatch::push(std::vector<TensorStatRow> rows) {
    std::int64_t bytes = 0;
    for (TensorStatRow& row : rows) {
        bytes += bytes_of(row);
        m_session.recorder.tensor_stat(std::move(row));
    }
    if (m_schedule.recorded(m_records_step, bytes)) {
        m_thinned.push_back({{"step", m_records_step}, {"every", m_schedule.distance()}});
        m_session.recorder.meta(meta::watch_thinned, m_thinned.dump());
    }
    m_records_step = -1;
}

std::vector<ExtremesRow> TensorWatch::last_extremes() {
    settle_extremes();
    std::vector<ExtremesRow> rows = m_ring.steps();
    if (m_open.step >= 0) {
        // The step that is going on: its gradients are known, its weights are those of the last one.
        ExtremesRow open;
        open.first_step = m_open.step;
        open.gradient = m_open.gradient.largest();
        open.nonfinite = m_open.gradient.nonfinite();
        open.parameter = m_last_parameter;
        rows.push_back(std::move(open));
    }
    return rows;
}

void TensorWatch::tell_costs() {
    m_told_at_ns = monotonic_ns();
    RunRecorder& recorder = m_session.recorder;
    recorder.meta(meta::watch_steps, std::to_string(m_steps));
    recorder.meta(meta::watch_ns, std::to_string(m_ns));
    recorder.meta(meta::watch_record_steps, std::to_string(m_record_steps));
    recorder.meta(meta::watch_record_ns, std::to_string(m_record_ns));
    if (!m_maxima.empty()) recorder.meta(meta::output_maxima, m_maxima.to_text());
}

void TensorWatch::at_end() {
    settle_extremes();
    settle_records();
    settle_looks();
    for (ExtremesRow& window : m_window.rest()) m_session.recorder.extremes(std::move(window));
    tell_costs();
}

}  // namespace mantissa
