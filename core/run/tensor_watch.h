#pragma once
// The tensor records of a run. Level 0, always: largest gradient and weight of every parameter, kept for incidents and recorded in
// windows. Level 1 every N steps, at the first step and when the loss scale grew, level 2 at every step: weights and gradients of the
// forward pass's weights, outputs of named places (first micro-batch), and updates. The level can be switched while the run goes on.
// Between the records of a control, the largest value of every output at every second step (record/output_maxima.h). What all of it costs
// is measured and recorded (meta keys watch_…). Thread: the one that trains.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "numerics/tensor_extremes.h"
#include "numerics/tensor_record.h"
#include "record/extremes.h"
#include "record/output_maxima.h"
#include "run/loop_watch.h"
#include "run/record_schedule.h"

namespace mantissa {

class TensorWatch : public LoopWatch, private OutputWatch {
  public:
    explicit TensorWatch(const LoopContext& context);

    void before_step(std::int64_t step) override;
    OutputWatch* outputs(std::int64_t step) override;
    void before_update(std::int64_t step, const std::vector<Batch>& micro_batches) override;
    void after_step(const StepOutcome& outcome, const std::vector<Batch>& micro_batches) override;
    void at_end() override;

  private:
    struct Extremes {
        std::int64_t step = -1;
        TensorExtremes gradient, parameter;
    };
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                const torch::Tensor& result) override;
    void read_gradients();
    void let_go_of_gradients();
    [[nodiscard]] double unscaling(std::size_t micro_batches) const;
    void record_updates();
    void settle_extremes();
    void settle_records();
    void look_at(const std::string& place, const torch::Tensor& result);
    void send_looks();
    void settle_looks();
    [[nodiscard]] bool is_looked_at(std::int64_t step) const;
    void push(std::vector<TensorStatRow> rows);
    [[nodiscard]] std::vector<ExtremesRow> last_extremes();
    void tell_costs();

    const RunPlan& m_plan;
    RunParts& m_parts;
    RunSession& m_session;
    const std::int64_t m_window_steps;  // of a whole accumulation window whose shorter ones are weighted up; 0: none are
    std::vector<std::string> m_names;
    std::vector<torch::Tensor> m_parameters, m_gradients;
    RecordSchedule m_schedule;

    // Level 0.
    Extremes m_open, m_done;  // of this step until its end; of the last step, not yet read from the device
    std::vector<float> m_last_parameter;
    ExtremesRing m_ring;
    ExtremesWindow m_window;

    // Levels 1 and 2.
    bool m_is_watched = false, m_is_looked_at = false, m_sees_outputs = false;
    OutputMaxima m_maxima;
    std::vector<std::string> m_looked_places;  // of m_looked_step, whose values still lie on a device
    std::vector<torch::Tensor> m_looked;
    std::int64_t m_looked_step = -1;
    struct Looks {
        std::vector<std::string> places;
        std::int64_t step = -1;
        Readback row;  // largest, non-finite
    } m_sent_looks;    // of the step before, on their way
    TensorRecords m_records;
    std::int64_t m_records_step = -1;
    std::map<std::string, int> m_places;  // how often they were seen in this forward pass
    std::vector<torch::Tensor> m_before;
    std::vector<std::vector<std::byte>> m_before_bytes;

    std::int64_t m_steps = 0, m_ns = 0, m_record_steps = 0, m_record_ns = 0, m_told_at_ns = 0;
    nlohmann::json m_thinned = nlohmann::json::array();
};

}  // namespace mantissa
