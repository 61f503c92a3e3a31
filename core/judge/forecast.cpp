#include "judge/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "plan/plan_file.h"
#include "record/run_folder.h"
#include "record/run_summary.h"

namespace mantissa {
namespace {

constexpr std::size_t most_record_steps = 24;  // whose histograms are read
constexpr double harmless_loss = 1e-3;

/// Marks bins of all records of a role together.
class Pool {
  public:
    void add(const LensInput& input) {
        for (const HistogramBin& bin : input.histogram.bins) {
            HistogramBin& sum = m_bins[bin.index];
            sum.index = bin.index;
            sum.parts = bin.parts;
            sum.on_edge += bin.on_edge;
            sum.inside += bin.inside;
        }
        if (input.largest) m_largest = std::max(m_largest.value_or(0), *input.largest);
        if (input.smallest) m_smallest = std::min(m_smallest.value_or(*input.smallest), *input.smallest);
    }
    [[nodiscard]] LensInput input() const {
        LensInput pooled;
        for (const auto& [index, bin] : m_bins) pooled.histogram.bins.push_back(bin);
        pooled.largest = m_largest;
        pooled.smallest = m_smallest;
        return pooled;
    }

  private:
    std::map<std::uint16_t, HistogramBin> m_bins;
    std::optional<double> m_largest, m_smallest;
};

std::vector<OutputForecast> all_outputs(const ForecastSource& source, Precision mode, std::int64_t until_step) {
    std::map<std::string, std::vector<std::pair<std::int64_t, double>>> series;
    std::vector<std::string> order;
    for (const TensorStatRow& row : source.outputs) {
        auto& values = series[row.tensor];
        if (values.empty()) order.push_back(row.tensor);
        const bool is_over = row.pos_inf + row.neg_inf > 0;
        values.emplace_back(row.step, is_over ? std::numeric_limits<double>::infinity() : row.largest);
    }
    std::vector<OutputForecast> forecasts;
    for (const std::string& tensor : order) {
        auto& values = series[tensor];
        const auto between = source.maxima.of(tensor);
        values.insert(values.end(), between.begin(), between.end());
        std::sort(values.begin(), values.end());
        forecasts.push_back(forecast_output(tensor, series[tensor], format_of(mode, TensorRole::Output), until_step));
    }
    return forecasts;
}

/// The first that leaves the format, else the one with the least room.
std::optional<OutputForecast> first_output(const std::vector<OutputForecast>& outputs) {
    const OutputForecast* first = nullptr;
    for (const OutputForecast& one : outputs) {
        const bool leaves_earlier = first != nullptr && one.step && (!first->step || *one.step < *first->step);
        const bool neither_leaves = first != nullptr && !one.step && !first->step;
        const bool is_nearer = neither_leaves && (one.is_open != first->is_open ? one.is_open : one.headroom_bits < first->headroom_bits);
        if (first == nullptr || leaves_earlier || is_nearer) first = &one;
    }
    return first == nullptr ? std::nullopt : std::optional(*first);
}

void tell_gradients(const ForecastSource& source, FormatForecast& forecast) {
    Pool pool;
    for (const TensorStatRow& row : source.gradients) {
        if (const auto input = lens_input(row)) pool.add(*input);
    }
    const LensInput all = pool.input();
    forecast.has_gradients = !all.histogram.bins.empty();
    if (!forecast.has_gradients) return;
    const NumberFormat format = format_of(forecast.mode, TensorRole::Gradient);
    forecast.scale = forecast.mode == Precision::Fp16 ? source.loss_scale : 1;
    forecast.flush_unscaled = read_lens(all, format).flush;
    const LensReading scaled = read_lens(all, format, forecast.scale);
    forecast.flush_scaled = scaled.flush;
    forecast.overflow_scaled = scaled.overflow;
    for (const LensCurve::Point& point : lens_curve(all, format).points) {
        if (point.reading.overflow > 0 || point.reading.flush >= harmless_loss) continue;
        forecast.needed_log2_scale = point.log2_scale;
        break;
    }
}

/// Share of updates that are smaller than half a step of the weight that they would be added to. Weights and updates are known by their
/// histograms alone, so every update is taken to meet every weight.
double lost_updates(const LensInput& weights, const LensInput& updates, NumberFormat format) {
    const FormatLimits& limits = limits_of(format);
    std::map<int, double> of_exponent;  // weights by their binade
    double all_weights = static_cast<double>(weights.zero), all_updates = 0;
    for (const HistogramBin& bin : weights.histogram.bins) {
        const double edge = bin_edge(bin.index), count = static_cast<double>(bin.on_edge + bin.inside);
        of_exponent[edge < limits.min_normal ? limits.min_exponent() : std::ilogb(edge)] += count;
        all_weights += count;
    }
    // A weight of 0 moves by whatever doesn't flush.
    of_exponent[limits.min_exponent()] += static_cast<double>(weights.zero);
    for (const HistogramBin& bin : updates.histogram.bins) all_updates += static_cast<double>(bin.on_edge + bin.inside);
    if (all_weights == 0 || all_updates == 0) return 0;
    double lost = 0;
    for (const auto& [exponent, count] : of_exponent) {
        const double half_step = std::ldexp(0.5, exponent - limits.mantissa_bits);
        double below = 0;
        for (const HistogramBin& bin : updates.histogram.bins) {
            const double from = bin_edge(bin.index), to = bin_end(bin);
            if (from <= half_step) below += static_cast<double>(bin.on_edge);
            below += static_cast<double>(bin.inside) * std::clamp((half_step - from) / (to - from), 0.0, 1.0);
        }
        lost += count / all_weights * below / all_updates;
    }
    return lost;
}

void tell_updates(const ForecastSource& source, FormatForecast& forecast) {
    std::map<std::pair<std::int64_t, std::string>, const TensorStatRow*> weights;
    for (const TensorStatRow& row : source.weights) weights[{row.step, row.tensor}] = &row;
    std::map<std::string, std::pair<double, double>> by_tensor;  // lost, all
    for (const TensorStatRow& row : source.updates) {
        const auto weight = weights.find({row.step, row.tensor});
        const auto updates = lens_input(row);
        const auto values = weight == weights.end() ? Result<LensInput>(Error{}) : lens_input(*weight->second);
        if (!updates || !values || updates->histogram.bins.empty()) continue;
        const auto count = static_cast<double>(updates->histogram.count());
        auto& [lost, all] = by_tensor[row.tensor];
        lost += count * lost_updates(*values, *updates, format_of(forecast.mode, TensorRole::Weight));
        all += count;
    }
    double lost_of_all = 0, all_of_all = 0;
    for (const auto& [tensor, sums] : by_tensor) {
        lost_of_all += sums.first;
        all_of_all += sums.second;
        if (sums.second > 0 && sums.first / sums.second > forecast.updates_tensor_lost) {
            forecast.updates_tensor_lost = sums.first / sums.second;
            forecast.updates_tensor = tensor;
        }
    }
    if (all_of_all > 0) forecast.updates_lost = lost_of_all / all_of_all;
}

template <typename Value>
std::vector<Value> spread_out(const std::set<Value>& values, std::size_t most) {
    std::vector<Value> all(values.begin(), values.end());
    if (all.size() <= most) return all;
    std::vector<Value> some;
    for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
    return some;
}

}  // namespace

const char* to_string(Sureness sureness) {
    switch (sureness) {
        case Sureness::Seen: return "seen";
        case Sureness::High: return "high";
        case Sureness::Medium: return "medium";
        case Sureness::Low: return "low";
    }
    return "";
}

Forecast make_forecast(const ForecastSource& source) {
    Forecast forecast;
    std::set<std::int64_t> steps;
    std::set<std::string> outputs;
    for (const TensorStatRow& row : source.outputs) {
        steps.insert(row.step);
        outputs.insert(row.tensor);
    }
    forecast.records = static_cast<std::int64_t>(steps.size());
    if (steps.empty()) return forecast;
    forecast.first_step = *steps.begin();
    forecast.last_step = *steps.rbegin();
    for (const std::string& tensor : outputs) {
        const auto between = source.maxima.of(tensor);
        if (!between.empty()) forecast.last_step = std::max(forecast.last_step, between.back().first);
    }
    forecast.planned_steps = source.planned_steps > 0 ? source.planned_steps : 2 * (forecast.last_step + 1);
    for (const Precision mode : {Precision::Fp16, Precision::Bf16, Precision::Fp8}) {
        FormatForecast one;
        one.mode = mode;
        one.output = first_output(all_outputs(source, mode, forecast.planned_steps));
        tell_gradients(source, one);
        tell_updates(source, one);
        forecast.formats.push_back(std::move(one));
    }
    return forecast;
}

Result<Forecast> read_forecast(const std::filesystem::path& run_folder, std::optional<std::int64_t> until_step) {
    const auto summary = summarize_run(run_folder);
    if (!summary) return summary.error();
    if (summary->mode != Precision::No) return Forecast{};
    auto reader = RunReader::open(run_folder);
    if (!reader) return reader.error();
    auto rows = (*reader)->read_new(std::numeric_limits<std::int64_t>::max());
    if (!rows) return rows.error();
    const std::int64_t until = until_step.value_or(std::numeric_limits<std::int64_t>::max());
    ForecastSource source;
    std::set<std::int64_t> steps;
    for (TensorStatRow& row : rows->tensor_stats) {
        if (row.step > until) continue;
        steps.insert(row.step);
        if (row.role == TensorRole::Output) source.outputs.push_back(std::move(row));
    }
    for (const std::int64_t step : spread_out(steps, most_record_steps)) {
        for (const auto& [role, list] : {std::pair{TensorRole::Gradient, &source.gradients}, std::pair{TensorRole::Weight, &source.weights},
                                         std::pair{TensorRole::Update, &source.updates}}) {
            auto found = (*reader)->tensor_stats(role, {}, step, step);
            if (!found) return found.error();
            std::move(found->begin(), found->end(), std::back_inserter(*list));
        }
    }
    const auto facts = (*reader)->meta();
    if (!facts) return facts.error();
    if (const auto text = facts->find(meta::output_maxima); text != facts->end()) {
        if (const auto maxima = OutputMaxima::from_text(text->second)) source.maxima = maxima->until(until);
    }
    if (const auto plan = read_plan_file(RunFolder{run_folder}.plan())) source.loss_scale = plan->plan.loss_scale.initial;
    source.planned_steps = summary->planned_steps;
    return make_forecast(source);
}

}  // namespace mantissa
