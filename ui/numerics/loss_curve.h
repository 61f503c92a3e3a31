#pragma once
// The share of one tensor that is lost (becomes 0 or overflows) over the loss scale 2^-24 … 2^24, for each format. A line marks the
// slider, a triangle where the run's scaler stands. A click or the arrow keys move the slider.
#include <QWidget>
#include <array>
#include <optional>

#include "ui/bridge/theme.h"
#include "ui/numerics/tensor_heat.h"

namespace mantissa::ui {

class LossCurve : public QWidget {
    Q_OBJECT
  public:
    explicit LossCurve(Theme& theme, QWidget* parent = nullptr);

    /// By lensFormats; empty: nothing to draw.
    void setCurves(const std::optional<std::array<LensCurve, 4>>& curves);
    void setFormat(NumberFormat format);
    void setLog2Scale(int log2Scale);
    /// log2 of the scaler's loss scale; empty for runs without one.
    void setScaler(std::optional<double> log2Scale);
    [[nodiscard]] std::optional<double> scaler() const { return m_scaler; }
    [[nodiscard]] double xOf(double log2Scale) const;
    [[nodiscard]] double yOf(double share) const;
    [[nodiscard]] QSize sizeHint() const override { return {420, 120}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 84}; }

  Q_SIGNALS:
    void scalePicked(int log2Scale);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    [[nodiscard]] QRectF plot() const;
    void paintGrid(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    void pick(double x);

    Theme& m_theme;
    std::optional<std::array<LensCurve, 4>> m_curves;
    NumberFormat m_format = NumberFormat::Fp16;
    int m_log2Scale = 0;
    std::optional<double> m_scaler;
};

}  // namespace mantissa::ui
