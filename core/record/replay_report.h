#pragma once
// What a look at a bad step found, as values with JSON: an incident (RUN/incidents/step_<n>/incident.json), a replay of it with the grid
// of variants (…/replay.json, rewritten by rename as variants finish). Written by the torch side and by launch, read by judge, the
// command line and the window. Steps count attempts from 0.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "record/comparison_record.h"

namespace mantissa {

/// One operand or result of an op.
struct TensorReading {
    std::string name;   // of a leaf ("gate.a.weight", "features"); empty for what an op made
    std::string dtype;
    std::vector<std::int64_t> shape;
    // The six counts; their sum is the number of elements.
    std::int64_t negative = 0, zero = 0, positive = 0, neg_inf = 0, pos_inf = 0, nan = 0;
    double largest = 0;           // finite magnitude
    double smallest_nonzero = 0;  // finite magnitude; 0: none
    [[nodiscard]] bool is_finite() const { return neg_inf + pos_inf + nan == 0; }
    [[nodiscard]] std::int64_t elements() const { return negative + zero + positive + neg_inf + pos_inf + nan; }
    bool operator==(const TensorReading&) const = default;
};

/// An outermost aten op of the step.
struct OpReading {
    std::int64_t index = 0;  // in the order of the step
    std::string phase;       // data parameter buffer forward loss backward unscale update
    std::string module, op;  // op of a backward: the forward op whose derivative it is
    std::string kernel;      // what really ran ("div" in the derivative of "log")
    std::vector<TensorReading> operands;
    std::vector<double> scalars;
    TensorReading result;  // the worst one of several
    bool is_birth = false;
    [[nodiscard]] std::string place() const;  // "gate.mul"
    bool operator==(const OpReading&) const = default;
};

/// Where the first bad value was born.
struct BirthReport {
    std::string code;    // verdict code that the op and its numbers give (numerics/birth_code.h)
    std::string tensor;  // the leaf that was bad from the start, for phases data, parameter and buffer; else empty
    OpReading producer;  // of a leaf: phase, and its reading as result
    std::vector<OpReading> before;  // the ops that led to it along the data flow and the last ones of the step, at most 12, in order
    std::vector<OpReading> after;   // the first that carried it on, at most 4
    std::int64_t carried = 0;       // non-finite tensors downstream in this step
    std::optional<std::int64_t> sample;  // of the batch, where the first bad element belongs to one
    std::optional<std::int64_t> step;    // of the birth, where it is an earlier one than the report's: an update left bad weights
    std::optional<std::int64_t> rank;    // that met it, of several
    [[nodiscard]] std::string place() const;
    [[nodiscard]] std::string told_place() const;  // "gate.mul", "gate.mul (rank 1)"
    bool operator==(const BirthReport&) const = default;
};

struct StepValue {
    std::int64_t step = 0;
    double value = 0;
    bool operator==(const StepValue&) const = default;
};

/// Written and synced before the run goes on or stops.
struct IncidentReport {
    std::int64_t step = 0;
    Precision mode = Precision::No;
    std::string kind, severity;  // as in the recording
    double loss = 0;
    std::optional<double> loss_scale;
    std::optional<std::int64_t> micro_batch;  // the bad one of an accumulation window
    std::optional<std::int64_t> rank;         // that met it, of several
    std::optional<BirthReport> birth;
    struct Watched {
        std::string tensor, quantity;  // quantity: gradient parameter output
        std::vector<StepValue> largest;  // of the last 2,000 steps; thinned to 400 points that keep the largest
        bool operator==(const Watched&) const = default;
    };
    std::vector<Watched> watched;
    // What a replay starts from: folders beside this file, in the form of a run's checkpoints; empty: from the seed.
    std::vector<std::string> states;  // names, oldest first: "state_94", "state_144"
    std::int64_t state_bytes = 0;
    std::string no_states;  // why there are none; empty when there are
    bool operator==(const IncidentReport&) const = default;
};

enum class Reproduced { Bits, Pattern, No };
[[nodiscard]] const char* to_string(Reproduced reproduced);  // "bits" "pattern" "no"
[[nodiscard]] std::optional<Reproduced> parse_reproduced(std::string_view text);

/// One line of the grid.
struct VariantReport {
    std::string id;        // as_was no scale_1 bf16 island previous_batch half_rate; custom: "what if" of a person
    Precision mode = Precision::No;
    std::string island;    // of id island: what is kept in fp32
    std::vector<std::string> settings;  // of id custom: "training.optimizer.learning_rate=0.0001"
    std::int64_t from_step = 0;  // the first step that it changes (half_rate begins earlier)
    std::string state = "waiting";  // waiting running done failed left_out
    std::string reason;             // of failed and left_out: a sentence
    std::optional<bool> this_step_finite;  // loss, gradients and outputs
    std::string value;                     // "Inf" "NaN" of the step when it isn't; "skipped" when only the scaler complained
    bool same_place = false;               // born where the run's was
    std::string place;                     // where it was born here
    std::int64_t later_steps = 0;             // how many further steps were tried
    std::optional<std::int64_t> later_bad_at;  // so many steps on it went bad
    std::optional<double> loss, later_loss;    // of the step; mean of the last five later ones
    double seconds = 0;
    [[nodiscard]] std::string change() const;          // "island gate.mul", "custom training.…=0.0001", else its id
    [[nodiscard]] std::string this_step_text() const;  // "finite", else the value; "" before it is known
    [[nodiscard]] std::string later_text() const;      // "holds", "bad after 4"; "" when no further step was tried
    /// Finite here and for all further steps that were tried (at least one).
    [[nodiscard]] bool holds() const { return this_step_finite.value_or(false) && later_steps > 0 && !later_bad_at; }
    bool operator==(const VariantReport&) const = default;
};

struct ReplayReport {
    std::string run_dir;
    std::int64_t step = 0;
    Precision mode = Precision::No;
    std::string state = "running";  // running done stopped failed
    std::string problem;            // of failed: a sentence
    std::optional<Reproduced> reproduced;
    std::string reproduced_reason;  // what differs: "the CPU's instruction set is AVX2 here, AVX512 there"
    bool is_what_if = false;        // a healthy step was asked for: no birth is looked for
    std::optional<bool> control_finite;  // the recorded control at that step; empty: there is none
    std::string control_run;             // its folder
    std::optional<BirthReport> birth;
    std::vector<OpReading> ops;  // of the step, the interesting ones in order: before, producer, after
    double limit = 0;            // largest finite value of the producer's dtype
    std::vector<StepValue> producer_largest;  // largest value of the producer's result in the steps before
    std::optional<std::int64_t> one_bit_left_step;  // the first of them above limit / 2
    std::vector<VariantReport> variants;
    std::string best;  // id of the variant that is advised; empty: none holds
    std::optional<Verdict> verdict;
    std::int64_t start_step = 0;  // of the state that it started from
    double seconds = 0;
};

[[nodiscard]] std::filesystem::path incident_folder(const std::filesystem::path& run, std::int64_t step);  // RUN/incidents/step_<n>
Result<IncidentReport> read_incident(const std::filesystem::path& folder);  // incident.json
Result<void> write_incident(const std::filesystem::path& folder, const IncidentReport& report);  // synced, by rename
/// Steps with an incident.json, lowest first.
[[nodiscard]] std::vector<std::int64_t> incident_steps(const std::filesystem::path& run);
Result<ReplayReport> read_replay(const std::filesystem::path& folder);  // replay.json
Result<void> write_replay(const std::filesystem::path& folder, const ReplayReport& report);

nlohmann::json to_json(const TensorReading& reading);
nlohmann::json to_json(const OpReading& op);
nlohmann::json to_json(const BirthReport& birth);
nlohmann::json to_json(const IncidentReport& report);
nlohmann::json to_json(const VariantReport& variant);
/// The object of `replay --json` (design §5): run_dir, step, reproduced, producer, variants, verdict, and more.
nlohmann::json to_json(const ReplayReport& report);
Result<BirthReport> birth_report_from_json(const nlohmann::json& json);
Result<IncidentReport> incident_report_from_json(const nlohmann::json& json);
Result<VariantReport> variant_report_from_json(const nlohmann::json& json);
Result<ReplayReport> replay_report_from_json(const nlohmann::json& json);

}  // namespace mantissa
