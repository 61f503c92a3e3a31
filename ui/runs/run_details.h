#pragma once
// Below the list: the marked entry in full sentences. The decision or the problem, then a line per run:
// state, reason, steps, loss.
#include <QFrame>
#include <memory>

#include "ui/runs/run_entry.h"

class QGridLayout;
class QLabel;
class QToolButton;

namespace mantissa::ui {

class Theme;

class RunDetails : public QFrame {
    Q_OBJECT
  public:
    explicit RunDetails(const Theme& theme, QWidget* parent = nullptr);
    /// Null: nothing is marked, and nothing is shown.
    void show(const RunEntry* entry);

  Q_SIGNALS:
    void saveWeightsRequested(const std::filesystem::path& run);
    void continueRequested(const std::filesystem::path& run);
    void replayRequested(const std::filesystem::path& run, std::int64_t step);

  private:
    struct Buttons {
        QToolButton *why, *save, *go;
        std::filesystem::path run;
        std::int64_t step = 0;
    };
    [[nodiscard]] static QString savedText(const RunOfEntry& run);
    void showButtons(int row, const RunOfEntry* run);
    QLabel* cell(int row, int column);

    const Theme& m_theme;
    QLabel *m_title, *m_decision;
    QGridLayout* m_grid;
    std::vector<std::unique_ptr<Buttons>> m_buttons;  // a row each
};

}  // namespace mantissa::ui
