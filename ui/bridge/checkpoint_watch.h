#pragma once
// Waits for the checkpoints that were asked for: a worker saves at its next step edge and its recording says where, or why not. Looks
// four times a second, for two minutes at most; window's thread only, which never waits.
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <vector>

#include "launch/checkpoint_answer.h"

namespace mantissa::ui {

class CheckpointWatch : public QObject {
    Q_OBJECT
  public:
    explicit CheckpointWatch(QObject* parent = nullptr);

    /// Remembers what this run has saved so far. To be called before the command is sent.
    void expect(const std::filesystem::path& run);
    [[nodiscard]] bool isWaiting() const { return !m_expected.empty(); }

  Q_SIGNALS:
    void saved(const std::filesystem::path& run, const std::filesystem::path& checkpoint);
    void failed(const std::filesystem::path& run, const QString& sentence);

  private:
    struct Expected {
        std::filesystem::path run;
        CheckpointAnswer before;
        QElapsedTimer since;
    };
    void look();

    std::vector<Expected> m_expected;
    QTimer m_timer;
};

}  // namespace mantissa::ui
