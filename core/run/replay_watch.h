#pragma once
// What a replay looks at: one place on the way, every named output of the steps that count, and in one step every op.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "numerics/birth_finder.h"
#include "numerics/output_meter.h"
#include "numerics/place_meter.h"
#include "record/replay_report.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

/// The one value that is read in every step on the way: what a place computes, or where `tensor` isn't empty, that tensor.
struct WatchedValue {
    std::string phase, place, kernel, tensor;  // as in ReplayRequest
};

class ReplayWatch : public BeforeUpdate, private OutputWatch {
  public:
    explicit ReplayWatch(WatchedValue value) : m_value(std::move(value)) {}

    /// Of the next step. What an earlier step left is forgotten.
    struct Look {
        bool outputs = false;  // all named places
        bool ops = false;      // level 3; the watched value isn't read then
        std::optional<double> loss_scale;  // by which the backward is scaled
        bool is_probing = false;           // it looks for its place: what it makes overflow is no birth
        std::function<std::optional<Batch>(std::size_t micro_batch)> other_batch;  // empty: its own
    };
    void begin_step(Model& model, Look look);
    /// After the step: takes what the ops told, and stops watching them.
    void end_step(Model& model, const StepRunner& runner);

    /// Largest magnitude of the watched value in this step, or NaN; empty: it wasn't computed.
    [[nodiscard]] std::optional<double> place_value() const { return m_place_value; }
    [[nodiscard]] const OutputMeter& outputs() const { return m_meter; }
    [[nodiscard]] bool are_outputs_finite() const { return m_meter.first_nonfinite() == nullptr; }
    [[nodiscard]] const std::optional<BirthReport>& birth() const { return m_birth; }
    /// "gate.mul" of the first bad value as far as it was looked for; empty: none, or not known.
    [[nodiscard]] std::string bad_place() const;

    void batch_in_hand(std::int64_t step, std::size_t micro_batch, Batch& batch) override;
    void phase_begins(const char* phase) override;
    void nonfinite_loss(std::int64_t, const std::vector<Batch>&, double) override {}
    void before_update(std::int64_t step, const std::vector<Batch>& micro_batches) override;
    OutputWatch* outputs(std::int64_t step) override;

  private:
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                const torch::Tensor& result) override;

    [[nodiscard]] bool watches_an_output() const {
        return m_value.tensor.empty() && !m_value.place.empty() && (m_value.phase.empty() || m_value.phase == "forward");
    }
    void look_for_value(Model& model);
    void take_value(double value);

    WatchedValue m_value;
    std::optional<PlaceMeter> m_place_meter;
    bool m_is_named = false;  // the model itself names the place
    Look m_look;
    Model* m_model = nullptr;
    std::optional<BirthFinder> m_finder;
    OutputMeter m_meter;
    bool m_has_bad_output = false;
    std::optional<double> m_place_value;
    std::optional<BirthReport> m_birth, m_birth_of_gradient;
};

}  // namespace mantissa
