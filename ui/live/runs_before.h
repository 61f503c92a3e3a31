#pragma once
// The runs that those on the page go on from, so that a curve is seen whole. Only a job of runs that were resumed has any.
#include <QObject>
#include <memory>
#include <vector>

#include "ui/bridge/comparison_follower.h"
#include "ui/charts/chart_run.h"

namespace mantissa::ui {

class RunsBefore : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;

    /// Looks for runs to add; true when there are new ones.
    bool update(const ComparisonFollower& follower);
    void clear() { m_runs.clear(); }
    [[nodiscard]] std::size_t count() const { return m_runs.size(); }
    void appendTo(std::vector<ChartRun>& runs) const;
    /// Modes as they are known by now, to see whether a chart has them right.
    [[nodiscard]] Precision mode(std::size_t index) const { return m_runs.at(index)->mode(); }

  Q_SIGNALS:
    void advanced();

  private:
    std::vector<std::unique_ptr<RunFollower>> m_runs;
};

}  // namespace mantissa::ui
