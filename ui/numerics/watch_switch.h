#pragma once
// How closely a running job is watched, switched while it runs, and what that costs as measured. For a run that is over it only says
// what was recorded.
#include <QWidget>
#include <optional>

#include "ui/numerics/run_numbers.h"

class QLabel;

namespace mantissa::ui {

class ChoiceRow;

class WatchSwitch : public QWidget {
    Q_OBJECT
  public:
    explicit WatchSwitch(QWidget* parent = nullptr);

    /// `run` may be null. `reason`: why nothing can be switched.
    void show(const RunFacts* run, bool isControlled, const QString& reason);
    [[nodiscard]] QString costText() const;

  Q_SIGNALS:
    void levelChosen(int level);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void retranslate();

    ChoiceRow* m_levels;
    QLabel* m_cost;
    std::optional<int> m_asked;  // by a person, until the run's record says it
    std::filesystem::path m_run;
};

/// The level that a run works at now, as far as its record says.
[[nodiscard]] std::optional<int> watchLevelOf(const RunFacts& run);
/// "costs 1.4 %" (of the time of a step) and the times behind it; empty while it isn't measured.
[[nodiscard]] QString watchCostOf(const RunFacts& run);
[[nodiscard]] QString watchCostDetails(const RunFacts& run);

}  // namespace mantissa::ui
