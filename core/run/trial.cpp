#include "run/trial.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "devices/memory_meter.h"
#include "engine/engine_error.h"
#include "models/module_scope.h"
#include "numerics/op_counter.h"
#include "numerics/output_meter.h"
#include "numerics/product_timer.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {
namespace {

constexpr int timed_steps = 5, clocked_steps = 3;
constexpr std::int64_t enough_clocked_ns = 2'000'000'000;  // a trial has its time limit

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// What an fp32 island gives hasn't the limit of the mode.
class HeadroomWatch : public OutputWatch {
  public:
    HeadroomWatch(OutputMeter& meter, const std::vector<std::string>& islands)
        : m_meter(meter), m_islands(islands) {}
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                const torch::Tensor& result) override {
        if (result.scalar_type() == at::kFloat && is_of_an_island(module, op)) return;
        m_meter.read(module, op, operands, result);
    }

  private:
    // By its path, by path and op, by the op everywhere, or as what a module with such an op gives.
    [[nodiscard]] bool is_of_an_island(const std::string& module, const std::string& op) const {
        return std::any_of(m_islands.begin(), m_islands.end(), [&](const std::string& island) {
            return module == island || module.starts_with(island + ".") ||
                   island.substr(0, island.rfind('.')) == module || (!op.empty() && island == "aten::" + op);
        });
    }

    OutputMeter& m_meter;
    const std::vector<std::string>& m_islands;
};

void fill_headroom(const OutputMeter& meter, Precision mode, TrialReport& report) {
    report.headroom_bits = headroom_bits(mode, meter);
    if (const OutputReading* reading = meter.largest()) {
        report.headroom_module = reading->op.empty() ? reading->module : reading->module + "." + reading->op;
        report.outputs_finite = reading->finite;
    }
}

// Steps apart from the timed ones: a clock on every op costs more than many a small op, so only the products are taken from them.
double products_ms(StepRunner& runner) {
    std::vector<double> times;
    ProductTimer timer;
    const std::int64_t start = monotonic_ns();
    for (int i = 0; i < clocked_steps && (i == 0 || monotonic_ns() - start < enough_clocked_ns); ++i) {
        timer.begin_step();
        runner.run();
        times.push_back(static_cast<double>(timer.ns()) / 1e6);
    }
    return median(std::move(times));
}

// Counted and watched apart from the timed steps: watching costs.
void measure(RunParts& parts, const RunPlan& plan, MemoryMeter& memory, std::optional<OpCounter>& counter,
             TrialReport& report) {
    OutputMeter meter;
    StepRunner runner(parts, plan.training, nullptr);
    parts.bare_model().train();
    {
        HeadroomWatch watch(meter, plan.fp32_islands);
        const WatchScope scope(watch);
        const StepOutcome first = runner.run(&*counter);
        report.loss_finite = std::isfinite(first.facts.loss);
    }
    fill_headroom(meter, plan.mixed_precision, report);
    const OpCounter::Totals totals = counter->totals();
    counter.reset();
    report.op_kinds = totals.op_kinds;
    report.op_kinds_half = totals.op_kinds_half;
    report.multiply_adds = totals.multiply_adds;
    report.multiply_adds_half = totals.multiply_adds_half;
    runner.run();  // the optimizer's state is there from the first applied step on
    std::vector<double> times;
    for (int i = 0; i < timed_steps; ++i) {
        memory.begin_step();
        const StepOutcome outcome = runner.run();
        times.push_back(static_cast<double>(outcome.step_ns) / 1e6);
        report.memory_peak_bytes = std::max(report.memory_peak_bytes, memory.peak_bytes());
    }
    report.step_ms = median(std::move(times));
    if (parts.accelerator.device().is_cpu()) report.op_time = {std::min(products_ms(runner), report.step_ms), report.step_ms};
    report.runs = true;
}

}  // namespace

Result<TrialReport> run_trial_of_model(const RunPlan& given, Precision mode) {
    RunPlan plan = given;
    plan.mixed_precision = mode;
    plan.on_nonfinite = OnNonfinite::Mark;  // a trial tells what it sees, it doesn't stop
    Result<DeviceChoice> choice = choose_run_device(plan);
    if (!choice) return choice.error();
    TrialReport report;
    report.mode = mode;
    report.choice = choice->precision;
    MemoryMeter memory(torch::Device(choice->device.id).type());
    Result<std::unique_ptr<RunParts>> parts = build_run(plan, *choice);
    if (!parts) return parts.error();
    report.notes = (*parts)->bare_model().findings();
    std::optional<OpCounter> counter;
    counter.emplace();
    counter->pause();
    ModuleScope::forget_last_failure();
    const auto fail = [&](const std::exception& exception) {
        report.runs = false;
        report.refusal = exception.what();
        report.refusal.resize(std::min(report.refusal.size(), report.refusal.find('\n')));
        if (counter) report.refused_op = counter->op_of_last_failure();
        report.refused_module = ModuleScope::module_of_last_failure();
    };
    try {
        measure(**parts, plan, memory, counter, report);
    } catch (const EngineError& error) {
        // What only the first step can tell of a plan is a fault of the plan, not of the mode.
        if (error.error().code == ErrorCode::BadPlan) return error.error();
        fail(error);
    } catch (const std::exception& exception) {
        fail(exception);
    }
    return report;
}

}  // namespace mantissa
