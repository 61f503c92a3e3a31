#pragma once
// The numerics of one run folder, read step by step: what was recorded of its tensors, ops and scales. No Qt, no thread of its own:
// NumericsReader calls it from its worker, and hands copies of `facts` to the window.
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/run_reader.h"
#include "ui/numerics/tensor_heat.h"

namespace mantissa::ui {

inline constexpr std::array<TensorRole, 4> tensorRoles{TensorRole::Output, TensorRole::Gradient, TensorRole::Weight, TensorRole::Update};

/// What the window knows of a run, beside the heat map and the chosen tensor.
struct RunFacts {
    std::filesystem::path folder;
    Precision mode = Precision::No;
    RunState state = RunState::Queued;
    std::string problem;                      // why it can't be read
    std::map<std::string, std::string> meta;  // record/meta_keys.h
    /// meta::watch_steps and watch_ns when the level that it is watched at now was first seen: what they have grown by is this level's.
    double watchedStepsBefore = 0, watchedNsBefore = 0;
    std::string planJson;
    std::int64_t steps = 0;                    // attempts recorded
    std::optional<double> lossScale;           // of the last attempt
    std::optional<std::int64_t> stepNs;        // median of the last 200 attempts
    std::array<std::int64_t, 4> records{};     // by tensorRoles
    std::vector<OpDtypeRow> ops;               // of the watched step
    std::map<std::string, TensorStatRow> updates, weights;  // the last record of each parameter, without its histogram
    std::vector<LocalErrorRow> localErrors;    // of the last step that was compared
    [[nodiscard]] bool hasEnded() const { return is_end_state(state); }
    [[nodiscard]] bool hasRecords() const;
};
[[nodiscard]] std::size_t roleIndex(TensorRole role);

class RunNumbers {
  public:
    RunNumbers(std::filesystem::path folder, Precision mode);

    /// Takes in what is new; true when there was anything.
    bool advance();
    [[nodiscard]] const RunFacts& facts() const { return m_facts; }
    /// Loss scale of that attempt: the last one known before it; empty for runs without a scaler.
    [[nodiscard]] std::optional<double> lossScaleAt(std::int64_t step) const;
    [[nodiscard]] std::int64_t lastStep() const { return m_facts.steps - 1 + m_firstStep; }
    Result<std::vector<TensorStatRow>> records(TensorRole role, const std::string& tensor, std::int64_t from, std::int64_t to);

  private:
    void take(const RunRows& rows);
    void takeMeta(std::map<std::string, std::string> values);

    RunFacts m_facts;
    std::unique_ptr<RunReader> m_reader;
    std::map<std::int64_t, double> m_scales;  // at the steps where it changed
    std::vector<std::int64_t> m_stepNs;       // of the last attempts
    std::int64_t m_firstStep = 0;             // a run that goes on from a checkpoint begins later
};

}  // namespace mantissa::ui
