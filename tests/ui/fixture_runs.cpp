#include "tests/ui/fixture_runs.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/clock.h"
#include "base/files.h"
#include "judge/judge.h"
#include "plan/plan_json.h"
#include "record/comparison_record.h"
#include "record/meta_keys.h"

namespace mantissa::fixture {
namespace {

constexpr std::int64_t stepNs[] = {5'100'000, 7'900'000, 6'800'000, 9'000'000};
constexpr std::int64_t peakBytes[] = {12'400'000, 10'100'000, 10'050'000, 9'000'000};

void check(const Result<void>& result) {
    if (!result) {
        throw std::runtime_error(describe(result.error()));
    }
}

template <typename T>
T take(Result<T> result) {
    if (!result) {
        throw std::runtime_error(describe(result.error()));
    }
    return std::move(*result);
}

/// A value in [0, 1) that depends on nothing but its arguments, so that any step can be made alone.
double noise(std::int64_t step, std::int64_t stream) {
    auto x = static_cast<std::uint64_t>(step * 2654435761 + stream * 40503 + 7);
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return static_cast<double>(x >> 11) * 0x1.0p-53;
}

double lossOf(Precision mode, std::int64_t step) {
    const double t = static_cast<double>(step);
    const double late = mode == Precision::Fp16 ? 12 : 0;  // the skips at the start cost fp16 some steps
    const double base = 2.35 * std::exp(-std::max(0.0, t - late) / 18) + 0.16 * std::exp(-t / 160) + 0.012;
    const double shared = noise(step, 1) - 0.5;
    const double own = noise(step, 2 + static_cast<std::int64_t>(mode)) - 0.5;
    const double width = std::min(1.0, t / 30) * 2.6;
    return base * std::exp(width * (0.8 * shared + 0.25 * own));
}

bool isSkipped(std::int64_t step) { return step <= 1 || step == 66; }

double scaleAt(std::int64_t step) {
    if (step <= 1) {
        return std::exp2(16 - static_cast<double>(step));
    }
    return step == 66 ? 32768.0 : 16384.0;
}

RunPlan planOf(const Options& options) {
    RunPlan plan;
    plan.name = "gated-overflow";
    plan.model.name = "gated";
    plan.training.batch_size = 32;
    plan.training.max_steps = options.planned;
    plan.training.seed = 7;
    plan.training.optimizer.learning_rate = 3e-3;
    plan.modes = options.modes;
    return plan;
}

std::string sourcedPlan(const Options& options, Precision mode) {
    RunPlan plan = planOf(options);
    plan.mixed_precision = mode;
    // As the command line would write it with ACCELERATE_MIXED_PRECISION=bf16 in its environment.
    const nlohmann::json lost = {
        {"source", "environment"}, {"detail", "ACCELERATE_MIXED_PRECISION"}, {"value", "mixed_precision bf16"}};
    const nlohmann::json modes = {
        {"source", "flag"}, {"detail", "--modes"}, {"value", "no,fp16,bf16"}, {"overruled", nlohmann::json::array({lost})}};
    return nlohmann::json{{"plan", to_json(plan)}, {"sources", {{"modes", modes}}}}.dump(1);
}

std::string environmentOf(Precision mode, const Options& options) {
    const bool isOdd = !options.isFair && mode == Precision::Fp16;
    return nlohmann::json{{"hashes",
                           {{"initial_state", "aa"}, {"data", "bb"}, {"sample_order", isOdd ? "odd" : "cc"}, {"plan", "dd"}}},
                          {"torch_version", "2.11.0"},
                          {"mode", to_string(mode)}}
        .dump(1);
}

TrialReport trialOf(Precision mode) {
    TrialReport trial;
    trial.mode = mode;
    trial.choice.requested = trial.choice.effective = mode;
    trial.choice.support = mode == Precision::No ? Support::Native : Support::Emulated;
    trial.choice.reason = mode == Precision::No ? "Every CPU computes in fp32."
                                                : "This CPU has no arithmetic of that width, so it is computed in fp32 and rounded.";
    trial.runs = true;
    trial.step_ms = static_cast<double>(stepNs[static_cast<int>(mode)]) * 1e-6;
    trial.memory_peak_bytes = peakBytes[static_cast<int>(mode)];
    trial.op_kinds = 9;
    trial.op_kinds_half = mode == Precision::No ? 0 : 5;
    trial.multiply_adds = 100'000;
    trial.multiply_adds_half = mode == Precision::No ? 0 : 97'000;
    if (mode == Precision::Fp16) {
        trial.headroom_bits = 3.2;
    }
    return trial;
}

std::int64_t stepsOf(Precision mode, const Options& options) {
    const bool stops = mode == Precision::Fp16 && options.fp16NanAt && *options.fp16NanAt < options.steps;
    return stops ? *options.fp16NanAt + 1 : options.steps;
}

void writeEvaluations(RunRecorder& recorder, Precision mode, std::int64_t after, const Options& options) {
    if (after == 0 || (after % 60 != 0 && after != options.planned)) {
        return;
    }
    const double t = static_cast<double>(after);
    const double share = 0.978 - 0.35 * std::exp(-t / 35) + 0.002 * static_cast<double>(mode);
    recorder.evaluation({after, "validation", "accuracy", share, "fp32", 360});
    recorder.evaluation({after, "validation", "loss", 0.02 + 0.14 * std::exp(-t / 90) + 0.004 * static_cast<double>(mode),
                         "fp32", 360});
}

/// Four kinds of op; in a half mode the two with products and the activation give half results.
void writeOps(RunRecorder& recorder, Precision mode) {
    const std::string half = mode == Precision::Fp16 ? "float16" : mode == Precision::Bf16 ? "bfloat16" : "float32";
    recorder.op_dtypes({0, "forward", "addmm", half, 4, 97'000});
    recorder.op_dtypes({0, "forward", "relu", half, 1, 0});
    recorder.op_dtypes({0, "forward", "layer_norm", "float32", 1, 0});
    recorder.op_dtypes({0, "backward", "mm", "float32", 1, 3'000});
}

void writeRun(const RunFolder& folder, Precision mode, const Options& options, const std::string& id) {
    const auto recorder = take(RunRecorder::open(folder.path));
    writeRunStart(*recorder, mode, options, id);
    const std::int64_t steps = stepsOf(mode, options);
    const std::int64_t start = now_ns();
    writeOps(*recorder, mode);
    for (std::int64_t step = 0; step < steps; ++step) {
        recorder->step(makeStep(mode, step, start, options));
        writeEvaluations(*recorder, mode, step + 1, options);
    }
    if (steps < options.steps) {
        IncidentRow incident;
        incident.step = *options.fp16NanAt;
        incident.phase = "forward";
        incident.kind = "activation_overflow";
        incident.severity = "error";
        incident.module = "gate";
        incident.op = "mul";
        recorder->incident(incident);
        recorder->state(RunState::StoppedNonfinite, "the loss of step 144 is NaN");
    } else if (options.ended) {
        recorder->state(RunState::Finished);
    }
    check(recorder->flush());
}

}  // namespace

StepRow makeStep(Precision mode, std::int64_t step, std::int64_t startNs, const Options& options) {
    StepRow row;
    const bool isFp16 = mode == Precision::Fp16;
    row.step = step;
    row.step_ns = static_cast<std::int64_t>(static_cast<double>(stepNs[static_cast<int>(mode)]) * (0.9 + 0.2 * noise(step, 9)));
    row.time_ns = startNs + (step + 1) * 25'000'000;
    row.loss = lossOf(mode, step);
    row.learning_rate = 3e-3;
    row.grad_norm = 1.5 * std::sqrt(row.loss) * (0.7 + 0.6 * noise(step, 11));
    row.samples = 32;
    row.data_ns = 50'000;
    row.memory_bytes = peakBytes[static_cast<int>(mode)] - 2'000'000;
    row.memory_peak_bytes = peakBytes[static_cast<int>(mode)];
    row.host_memory_bytes = 240'000'000;
    row.applied_step = step + 1;
    if (isFp16) {
        row.loss_scale = scaleAt(step);
        row.growth_tracker = step % 2000;
        row.skipped = isSkipped(step);
        row.skip_kind = row.skipped ? SkipKind::Probing : SkipKind::None;
        row.nonfinite_grads = row.skipped ? 12 : 0;
        row.applied_step = step + 1 - std::min<std::int64_t>(step + 1, 2) - (step >= 66 ? 1 : 0);
        if (options.fp16NanAt && step == *options.fp16NanAt) {
            row.loss = std::numeric_limits<double>::quiet_NaN();
            row.grad_norm = row.loss;
            row.nonfinite_loss = true;
            row.nonfinite_grads = 1000;
            row.skipped = true;
            row.skip_kind = SkipKind::Fault;
            row.applied_step -= 1;
        }
    }
    return row;
}

void writeRunStart(RunRecorder& recorder, Precision mode, const Options& options, const std::string& comparisonId) {
    recorder.meta(meta::mode, to_string(mode));
    recorder.meta(meta::requested, to_string(mode));
    recorder.meta(meta::effective, to_string(mode));
    recorder.meta(meta::support, to_string(trialOf(mode).choice.support));
    recorder.meta(meta::support_reason, trialOf(mode).choice.reason);
    recorder.meta(meta::device, "cpu");
    recorder.meta(meta::device_name, "AMD EPYC, 2 cores");
    recorder.meta(meta::name, "gated-overflow");
    recorder.meta(meta::model, "gated");
    recorder.meta(meta::dataset, "digits");
    if (!comparisonId.empty()) {
        recorder.meta(meta::comparison_id, comparisonId);
    }
    recorder.meta(meta::started_ns, std::to_string(now_ns()));
    recorder.meta(meta::planned_steps, std::to_string(options.planned));
    recorder.meta(meta::batch_size, "32");
    recorder.meta(meta::training_samples, "1437");
    recorder.meta(meta::validation_samples, "360");
    recorder.meta(meta::metric, "accuracy");
    recorder.state(RunState::Queued);
    recorder.state(RunState::Running);
}

Comparison writeComparison(const std::filesystem::path& runs, const Options& options) {
    Comparison made;
    ComparisonRecord record;
    record.id = file_time_stamp(now_ns()) + "-gated-overflow";
    record.name = "gated-overflow";
    record.started_ns = now_ns();
    record.state = options.trialOnly ? "trial" : (options.ended ? "finished" : "running");
    record.modes = options.modes;
    record.plan_json = sourcedPlan(options, Precision::No);
    made.folder = comparison_folder(runs, record.id);
    check(make_folders(made.folder));
    for (const Precision mode : options.modes) {
        RunFolder folder = take(create_run_folder(runs, "gated-overflow", mode));
        check(write_file_atomically(folder.plan(), sourcedPlan(options, mode)));
        if (!options.ended) {
            made.locks.push_back(take(RunLock::take(folder)));
        }
        if (!options.trialOnly) {
            check(write_file_atomically(folder.environment(), environmentOf(mode, options)));
            check(write_file_atomically(folder.trial(), to_json(trialOf(mode)).dump()));
            record.trials.push_back(trialOf(mode));
            writeRun(folder, mode, options, record.id);
        } else if (mode == Precision::No) {
            record.trials.push_back(trialOf(mode));
        }
        record.run_dirs.push_back(folder.path);
        made.runs.push_back(folder);
    }
    record.ended_ns = options.ended ? now_ns() : 0;
    check(write_comparison(made.folder, record));
    if (!options.trialOnly) {
        check(write_comparison(made.folder, take(judge_comparison(made.folder, "en"))));
    }
    return made;
}

}  // namespace mantissa::fixture
