#pragma once
// Reads what lies below the runs folder, in a thread of its own. `RunScan` is the plain part (also for
// tests); `RunScanner` keeps one in a thread, is asked to look, and answers with the whole list. Ended runs
// are read once and remembered.
#include <QObject>
#include <QThread>
#include <filesystem>
#include <map>
#include <vector>

#include "base/result.h"
#include "ui/runs/run_entry.h"

namespace mantissa::ui {

class RunScan {
  public:
    /// Newest first. A folder that can't be read is an entry with its problem; an absent runs folder is an
    /// empty list.
    Result<std::vector<RunEntry>> read(const std::filesystem::path& runs, const std::string& language);

  private:
    RunEntry readComparison(const std::filesystem::path& folder, const std::string& language);
    RunOfEntry readRun(const std::filesystem::path& folder, RunEntry& entry);

    std::map<std::string, RunEntry> m_ended;  // by folder, of entries that can't change any more
};

class RunScanner : public QObject {
    Q_OBJECT
  public:
    explicit RunScanner(QObject* parent = nullptr);
    ~RunScanner() override;
    /// Looks soon; requests while it looks are answered by one further look.
    void look(const std::filesystem::path& runs, const QString& language);

  Q_SIGNALS:
    void found(const std::vector<mantissa::ui::RunEntry>& entries);
    void failed(const QString& sentence);

  private:
    void startLook();

    QThread m_thread;
    QObject* m_worker;
    RunScan m_scan;  // used by m_thread only
    std::filesystem::path m_runs;
    QString m_language;
    bool m_busy = false, m_again = false;
};

}  // namespace mantissa::ui
