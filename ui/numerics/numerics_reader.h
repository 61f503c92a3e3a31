#pragma once
// Reads the numerics of a job folder (a comparison or a single run) for the page: a thread of its own polls the recordings, builds the
// heat map of the chosen run and role, and looks up the chosen tensor; the window gets whole values. Members and signals belong to the
// window's thread, which is never made to wait. It rests while nobody looks.
#include <QObject>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "judge/forecast.h"
#include "ui/numerics/run_numbers.h"

namespace mantissa::ui {

/// What the page wants to see.
struct NumericsRequest {
    std::filesystem::path folder;  // empty: nothing
    std::size_t run = 0;
    TensorRole role = TensorRole::Output;
    std::string tensor;                // empty: the one that is worst off in fp16
    std::optional<std::int64_t> step;  // empty: the last that was recorded, also while the run goes on
    bool operator==(const NumericsRequest&) const = default;
};

/// The chosen tensor at the chosen step.
struct TensorPick {
    std::filesystem::path folder;
    std::size_t run = 0;
    TensorStatRow row;
    std::string problem;  // of a damaged histogram; then there is no input
    std::optional<LensInput> input;
    std::array<LensCurve, 4> curves;  // by lensFormats
    std::optional<double> lossScale;  // the scaler's at that step (for a run without one, that of the comparison's fp16 run)
};

struct NumericsSnapshot {
    NumericsRequest request;  // that it answers
    std::vector<RunFacts> runs;
    std::shared_ptr<const TensorHeat> heat;
    std::shared_ptr<const TensorPick> pick;
    std::shared_ptr<const Forecast> forecast;  // from the run in mode `no`; null without one, or without tensor records
    std::string problem;  // of the folder
};

class NumericsReader : public QObject {
    Q_OBJECT
  public:
    explicit NumericsReader(QObject* parent = nullptr);
    ~NumericsReader() override;

    void setRequest(const NumericsRequest& request);
    [[nodiscard]] const NumericsRequest& request() const { return m_wanted; }
    /// Whether anybody looks; a reader that isn't active reads nothing.
    void setActive(bool active);
    [[nodiscard]] const NumericsSnapshot& snapshot() const { return m_snapshot; }

  Q_SIGNALS:
    void changed();

  private:
    class Worker;
    void work(std::stop_token stop);

    NumericsRequest m_wanted;
    NumericsSnapshot m_snapshot;

    std::mutex m_mutex;  // protects m_request, m_isActive, m_isAsked, m_pending, m_isPosted
    std::condition_variable_any m_wake;
    NumericsRequest m_request;
    bool m_isActive = false, m_isAsked = false;
    std::optional<NumericsSnapshot> m_pending;
    bool m_isPosted = false;

    std::jthread m_thread;  // last: it is joined before anything it uses goes away
};

}  // namespace mantissa::ui
