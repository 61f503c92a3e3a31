#pragma once
// The alarms that a plan's rules raised, as sentences: triangles on the charts of their runs, and a line each in the fold "alarms".
#include <QString>
#include <string>
#include <vector>

#include "ui/bridge/comparison_follower.h"
#include "ui/bridge/theme.h"
#include "ui/charts/chart_run.h"

namespace mantissa::ui {

class LiveAlarms {
  public:
    /// True when there are new ones, other runs or another language. The notes of a run stay where they are until the next call that says so.
    bool update(const ComparisonFollower& follower, const std::string& language);
    void clear() { m_notes.clear(); }  // once no chart refers to them
    /// Of the follower's run `index`; null when it has none.
    [[nodiscard]] const std::vector<ChartNote>* notes(std::size_t index) const;
    [[nodiscard]] int count() const;
    /// A paragraph each, newest first, at most 40 of them.
    [[nodiscard]] QString html(const ComparisonFollower& follower, const ThemeColours& colours) const;

  private:
    std::vector<std::vector<ChartNote>> m_notes;  // a list per run
    std::string m_language;
};

}  // namespace mantissa::ui
