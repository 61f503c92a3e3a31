#pragma once
// Follows a job folder: a comparison (comparison.json and its runs) or a single run. comparison.json is rewritten by rename, so
// it is read whole by a thread of its own whenever its time stamp changes. Members and signals: window's thread.
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "ui/bridge/comparison_reader.h"
#include "ui/bridge/run_follower.h"

namespace mantissa::ui {

class ComparisonFollower : public QObject {
    Q_OBJECT
  public:
    /// `folder` holds comparison.json, or is a run folder of its own.
    /// `language` of the judge's texts: "en" or "zh".
    explicit ComparisonFollower(std::filesystem::path folder, const std::string& language = "en", QObject* parent = nullptr);
    ~ComparisonFollower() override;

    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    [[nodiscard]] bool isComparison() const { return m_isComparison; }
    /// Empty for a single run, or while it can't be read yet.
    [[nodiscard]] const std::optional<ComparisonRecord>& record() const { return m_record; }
    /// Verdicts of the comparison, or of the single run (RUN/verdicts.json).
    [[nodiscard]] const std::vector<Verdict>& verdicts() const { return m_verdicts; }
    [[nodiscard]] const std::vector<std::unique_ptr<RunFollower>>& runs() const { return m_runs; }
    /// Runs of the control in another batch order: no modes of the comparison, but the ruler that it has.
    [[nodiscard]] const std::vector<std::unique_ptr<RunFollower>>& repetitions() const { return m_repetitions; }
    [[nodiscard]] RunFollower* control() const;  // the run in mode `no`, if there is one
    [[nodiscard]] const QString& problem() const { return m_problem; }
    [[nodiscard]] bool hasEnded() const;
    void setLanguage(const std::string& language);

  Q_SIGNALS:
    void runsChanged();    // followers were added
    void recordChanged();  // comparison.json or verdicts.json is new
    void advanced();       // at least one run is further; at most 20 times a second, however many runs there are

  private:
    void poll(std::stop_token stop);
    void take(ComparisonSnapshot snapshot);
    void addRun(std::vector<std::unique_ptr<RunFollower>>& runs, const std::filesystem::path& folder, Precision mode);

    const std::filesystem::path m_folder;
    std::string m_language;
    const bool m_isComparison;
    std::optional<ComparisonRecord> m_record;
    std::vector<Verdict> m_verdicts;
    std::vector<std::unique_ptr<RunFollower>> m_runs;
    std::vector<std::unique_ptr<RunFollower>> m_repetitions;
    QString m_problem;
    QTimer m_refresh;
    QElapsedTimer m_sinceRefresh;

    std::mutex m_mutex;  // protects m_language
    std::condition_variable_any m_wake;
    std::jthread m_thread;
};

}  // namespace mantissa::ui
