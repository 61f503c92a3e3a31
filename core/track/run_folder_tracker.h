#pragma once
// A run folder like those of `mantissa train`, written by a program of one's own: the window follows it live, `mantissa runs` and
// `mantissa report` open it. Every attempt of the optimizer is a row, without a call; what log() gets becomes evaluations:
// "validation/accuracy", "val_loss" or "eval/f1" belong to the validation data, "train…" to the training data, anything else to
// the split "logged". Texts are kept as meta "text.<name>". plan.json holds the project and its configuration: there is no plan.
#include <filesystem>
#include <memory>
#include <optional>

#include "record/run_folder.h"
#include "record/run_recorder.h"
#include "track/tracker.h"

namespace mantissa {

class RunFolderTracker : public Tracker {
  public:
    /// `runs`: folder of the runs; empty: the one that the window shows.
    explicit RunFolderTracker(std::filesystem::path runs = {}) : m_runs(std::move(runs)) {}
    ~RunFolderTracker() override;  // without finish() the run has failed or was stopped, and its record says so
    RunFolderTracker(const RunFolderTracker&) = delete;
    RunFolderTracker& operator=(const RunFolderTracker&) = delete;

    [[nodiscard]] std::string name() const override { return "mantissa"; }
    Result<void> start(const TrackerStart& start) override;
    Result<void> log(const TrackedValues& values, std::optional<std::int64_t> step) override;
    Result<void> attempt(const TrackedAttempt& attempt) override;
    Result<void> finish() override;
    /// Empty before start().
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder.path; }

  private:
    void evaluation(const std::string& name, double value, std::int64_t step);
    Result<void> end(RunState state, const std::string& reason);

    std::filesystem::path m_runs;
    RunFolder m_folder;
    std::optional<RunLock> m_lock;
    std::unique_ptr<RunRecorder> m_recorder;
    std::string m_precision = "fp32";
    std::string m_refusal;  // why the last attempt moved no weight, when a non-finite value was the reason
    std::int64_t m_attempts = 0;
    bool m_has_metric = false;
};

}  // namespace mantissa
