#pragma once
// Paints a ChartScene: what lies under the lines and what lies over them. Used for the screen, for PNG and for SVG alike.
#include <QPainter>

#include "ui/bridge/theme.h"
#include "ui/charts/chart_scene.h"

namespace mantissa::ui {

class ChartPainter {
  public:
    ChartPainter(QPainter& painter, const ChartScene& scene, const ThemeColours& colours);
    void paintBelow();
    void paintAbove();
    /// Where the label of a mark begins, `width` long: behind its cluster, else before it, else on it; never
    /// cut off.
    [[nodiscard]] static double markLabelLeft(const QRectF& plot, const SceneMark& mark, double width);

  private:
    void paintBand();
    void paintBandLegend();
    void paintLane(const SceneLane& lane);
    void paintLaneCell(const SceneLane& lane, const LedgerCell& cell);
    void paintLaneText(const SceneLane& lane);
    void paintMark(const SceneMark& mark, double& labelledUpTo);
    void paintNotes();
    void paintCursor();
    void paintCursorBox();

    QPainter& m_painter;
    const ChartScene& m_scene;
    const ThemeColours& m_colours;
};

}  // namespace mantissa::ui
