#pragma once
// The rows of run.db (schema: record/schema.h). One StepRow per attempt of the optimizer. Plain values; NaN and ±Inf are real
// values here, an empty optional is "not measured".
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class SkipKind { None, Probing, Fault };
[[nodiscard]] const char* to_string(SkipKind kind);  // "" "probing" "fault"
[[nodiscard]] std::optional<SkipKind> parse_skip_kind(std::string_view text);

enum class RunState { Queued, Trial, Running, Paused, Finished, StoppedNonfinite, Stopped, Interrupted, Failed, Lost };
[[nodiscard]] const char* to_string(RunState state);  // "queued" ... "stopped_nonfinite" ... "lost"
[[nodiscard]] std::optional<RunState> parse_run_state(std::string_view text);
[[nodiscard]] bool is_end_state(RunState state);

struct StepRow {
    std::int64_t step = 0;          // from 0; counts attempts
    std::int64_t applied_step = 0;  // updates applied including this one
    std::int64_t epoch = 0;
    std::int64_t time_ns = 0;  // wall clock at the end of the step
    double loss = 0;           // mean of the micro-batches, unscaled, before division and loss_factor
    double learning_rate = 0;  // of group 0, as used in this attempt
    double grad_norm = 0;      // unscaled, before clipping, always
    std::optional<double> loss_scale;  // as used in this attempt; empty outside fp16
    std::optional<std::int64_t> growth_tracker;  // after it
    bool skipped = false;
    SkipKind skip_kind = SkipKind::None;
    bool nonfinite_loss = false;
    std::int64_t nonfinite_grads = 0;  // gradient elements that are not finite
    std::int64_t memory_bytes = 0;       // tensors at the end of the step
    std::int64_t memory_peak_bytes = 0;  // largest within it
    std::int64_t host_memory_bytes = 0;  // resident set
    std::int64_t samples = 0;
    std::int64_t data_ns = 0;
    std::int64_t step_ns = 0;  // batch in hand -> update done; without data, turns, pauses, evaluation
};

struct MicroBatchRow {
    std::int64_t step = 0, index = 0;
    double loss = 0;
};

struct EvaluationRow {
    std::int64_t step = 0;    // after this many attempts
    std::string split;        // "validation" "training"
    std::string metric;       // "accuracy" (share 0..1) "loss"
    double value = 0;
    std::string precision;    // "fp32" or the mode
    std::int64_t samples = 0;
};

struct MemoryRow {
    std::int64_t step = 0;
    std::string part;  // weights gradients optimizer saved_for_backward casts other
    std::int64_t bytes = 0;
};

struct OpDtypeRow {
    std::int64_t step = 0;
    std::string phase;  // forward backward
    std::string op;     // aten name without namespace
    std::string dtype;  // of the result: float32 float16 bfloat16 ...
    std::int64_t calls = 0;
    std::int64_t multiply_adds = 0;
    std::int64_t casts = 0;       // of the calls, those that changed a floating-point dtype
    std::int64_t cast_bytes = 0;  // of their results
};

struct IncidentRow {
    std::int64_t id = 0;  // given by the recorder
    std::int64_t step = 0;
    std::string phase;     // data parameter buffer forward loss backward unscale update
    std::string kind;      // a verdict code of design §7, e.g. activation_overflow, scale_collapse, weights_poisoned
    std::string severity;  // ok note warning error
    std::string module, op, tensor;
    std::string detail_json = "{}";
};

enum class TensorRole { Weight, Gradient, Update, Output };
[[nodiscard]] const char* to_string(TensorRole role);  // "weight" ...
[[nodiscard]] std::optional<TensorRole> parse_tensor_role(std::string_view text);

/// One tensor at one step: of levels 1 and 2. Gradients are unscaled. The six-way counts of a tensor are negative, zero,
/// elements − all others, neg_inf, pos_inf, nan.
struct TensorStatRow {
    std::int64_t step = 0;
    std::string tensor;  // parameter ("hidden.weight"), or place of an output ("gate.mul", "hidden")
    TensorRole role = TensorRole::Weight;
    std::string dtype;
    std::int64_t elements = 0, nan = 0, pos_inf = 0, neg_inf = 0, zero = 0;
    std::int64_t negative = 0;   // finite and below zero
    std::int64_t subnormal = 0;  // in the tensor's own dtype
    double largest = 0;          // finite magnitude
    double smallest_nonzero = 0;
    double mean = 0, mean_abs = 0, rms = 0;  // of the finite values
    std::optional<double> unmoved;  // of role update: share of weights with a gradient other than 0 that the update left as they were
    std::string exponents;          // ExponentHistogram::to_blob(); RunReader::read_new leaves it empty
};

/// Level 0, of every run: per parameter, over a window of steps (record/extremes.h says how windows grow).
struct ExtremesRow {
    std::int64_t first_step = 0, steps = 1;
    std::vector<float> gradient;   // largest finite magnitude of the unscaled gradient, in the order of meta::parameters
    std::vector<float> parameter;  // after the update
    std::vector<std::uint32_t> nonfinite;  // gradient elements, summed over the window (saturating)
};

/// The same batch and weights in fp32 beside the run's mode.
struct LocalErrorRow {
    std::int64_t step = 0;
    std::string tensor;
    TensorRole role = TensorRole::Output;  // or Gradient
    std::string dtype;
    double sqnr_db = 0;         // 10·log10(Σ x² / Σ (x − y)²), x in fp32; +Inf: no difference
    double relative_error = 0;  // ‖x − y‖ / ‖x‖
};

/// A rule of the plan's alarms that fired (judge/alarms.h has the rules).
struct AlarmRow {
    std::int64_t step = 0;
    std::string rule;      // headroom flush_share skip_streak scale_floor vanishing_gradient dead_layer update_share
    std::string severity;  // note warning error
    std::string tensor;    // may be empty
    double value = 0, threshold = 0;
    std::string action;  // what was done: mark pause stop checkpoint watch
};

struct StateRow {
    std::int64_t time_ns = 0;
    RunState state = RunState::Queued;
    std::string reason;
};

}  // namespace mantissa
