#pragma once
// What fp16, bf16 and fp8 would meet, told from the recording of a control (mode `no`) alone: which output leaves the format and at about
// which step, what becomes of the gradients at the loss scale, and which updates would be rounded away if the weights themselves were kept
// in the format. Arithmetic on tensor records (level 1 or 2) and the largest values between them; without them nothing is foretold.
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "judge/format_lens.h"
#include "judge/texts.h"
#include "record/output_maxima.h"
#include "record/run_reader.h"

namespace mantissa {

enum class Sureness { Seen, High, Medium, Low };
[[nodiscard]] const char* to_string(Sureness sureness);  // "seen" "high" "medium" "low"

/// An output and the end of the format.
struct OutputForecast {
    std::string tensor;
    double largest = 0;          // over all records
    std::int64_t largest_step = 0;
    double headroom_bits = 0;    // at that step; negative: beyond
    /// When an output passes the end: seen = the control's own values did, between the records from_step and to_step; else foretold from
    /// their growth, not before from_step and probably by to_step. Empty: not within the steps of the plan, or open.
    std::optional<std::int64_t> step;
    std::int64_t from_step = 0, to_step = 0;  // of a foretold one: nine in ten half runs beside a control met it in between
    Sureness sureness = Sureness::Low;
    /// No step, but it isn't said that it stays: near the end, and seen for too few steps, or growing towards an end further ahead than that.
    bool is_open = false;
};

struct FormatForecast {
    Precision mode = Precision::Fp16;
    std::optional<OutputForecast> output;  // the first that leaves; when none does, the one with the least room, of open ones if there are
    // Gradients of all parameters and records together; e5m2 for fp8.
    bool has_gradients = false;
    double flush_unscaled = 0;  // share that becomes 0 at scale 1
    double scale = 1;           // of the plan (fp16), else 1
    double flush_scaled = 0, overflow_scaled = 0;
    std::optional<int> needed_log2_scale;  // the smallest scale at which less than 0.1 % is lost; empty: there is none
    // If the weights were kept in the format (e4m3fn for fp8) and updates added to them there: share that would leave its weight as it is,
    // estimated from both histograms.
    std::optional<double> updates_lost;
    std::string updates_tensor;  // the parameter that loses most
    double updates_tensor_lost = 0;
};

struct Forecast {
    std::int64_t first_step = 0, last_step = 0, records = 0;  // of outputs
    std::int64_t planned_steps = 0;
    std::vector<FormatForecast> formats;  // fp16, bf16, fp8
    [[nodiscard]] bool empty() const { return records == 0; }
};

struct ForecastSource {
    std::vector<TensorStatRow> outputs, gradients, weights, updates;  // with histograms, in the order of steps
    OutputMaxima maxima;             // of outputs, between their records
    double loss_scale = 65536;       // that fp16 begins with
    std::int64_t planned_steps = 0;  // 0: as far as twice the record
};

[[nodiscard]] Forecast make_forecast(const ForecastSource& source);
/// Of one output: its largest value at the recorded steps. Public for its test and for the window's charts.
[[nodiscard]] OutputForecast forecast_output(const std::string& tensor, const std::vector<std::pair<std::int64_t, double>>& largest,
                                             NumberFormat format, std::int64_t until_step);

/// From a run folder. Empty for a run of another mode and without tensor records. `until_step`: later records are left out.
Result<Forecast> read_forecast(const std::filesystem::path& run_folder, std::optional<std::int64_t> until_step = std::nullopt);

/// One or two sentences a format, in the order of `formats`.
[[nodiscard]] std::vector<std::string> forecast_texts(const Forecast& forecast, const TextCatalogue& texts);

}  // namespace mantissa
