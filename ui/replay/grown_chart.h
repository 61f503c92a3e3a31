#pragma once
// "How it got here": the largest value of the producer over the steps, the limit of its format, the step at which one bit was left, a
// diamond where the bad value was born. Painted by itself: at most a few hundred points. Left and right move a cursor that names the value.
#include <QWidget>

#include "ui/replay/grown_values.h"

namespace mantissa::ui {

class Theme;

class GrownChart : public QWidget {
    Q_OBJECT
  public:
    GrownChart(const Theme& theme, QWidget* parent = nullptr);
    void setValues(const GrownValues& values, Precision mode);
    [[nodiscard]] const GrownValues& values() const { return m_values; }
    /// Of the point under the cursor; −1 without one.
    [[nodiscard]] int cursor() const { return m_cursor; }
    [[nodiscard]] QString cursorText() const;
    [[nodiscard]] QPointF pointOf(double step, double value) const;
    [[nodiscard]] QSize sizeHint() const override { return {420, 190}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 110}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    [[nodiscard]] QRectF plot() const;
    [[nodiscard]] double top() const;
    void paintAxes(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    void paintLine(QPainter& painter) const;
    void paintBirth(QPainter& painter) const;
    void paintCursor(QPainter& painter) const;
    void setCursorTo(int point);

    const Theme& m_theme;
    GrownValues m_values;
    Precision m_mode = Precision::No;
    int m_cursor = -1;
};

}  // namespace mantissa::ui
