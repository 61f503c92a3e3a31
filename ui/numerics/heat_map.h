#pragma once
// The heat map: tensors × steps, a column per record at its step's place (HeatAxis). Hover and arrow keys read values, a click or a move of the cursor goes to that tensor and
// step. Each pixel column shows the worst of the steps that lie in it; non-finite values get a mark whatever the quantity.
#include <QAbstractScrollArea>
#include <memory>
#include <optional>

#include "ui/bridge/theme.h"
#include "ui/numerics/heat_axis.h"

namespace mantissa::ui {

class HeatMap : public QAbstractScrollArea {
    Q_OBJECT
  public:
    explicit HeatMap(Theme& theme, QWidget* parent = nullptr);

    void setHeat(std::shared_ptr<const TensorHeat> heat);
    void setShown(HeatQuantity quantity, NumberFormat format);
    /// Shown instead of an empty map.
    void setEmptyText(const QString& text);
    /// The cell with the frame; signals nothing.
    void setCurrent(const std::string& tensor, std::optional<std::int64_t> step);
    [[nodiscard]] const TensorHeat* heat() const { return m_heat.get(); }
    /// What is under the mouse, else the current cell: "gate.mul · step 140 · headroom 0.9 bits".
    [[nodiscard]] QString readout() const;
    /// Middle of a cell, in the viewport.
    [[nodiscard]] QPoint positionOf(std::size_t tensor, std::size_t column) const;
    [[nodiscard]] QSize sizeHint() const override { return {560, 260}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 110}; }

  Q_SIGNALS:
    void picked(const QString& tensor, qint64 step);
    void readoutChanged(const QString& text);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool viewportEvent(QEvent* event) override;

  private:
    static constexpr int namesGap = 8;
    struct Place {
        std::size_t tensor = 0, column = 0;
        bool operator==(const Place&) const = default;
    };
    [[nodiscard]] std::optional<Place> placeAt(const QPoint& at) const;
    [[nodiscard]] QRect plot() const;
    [[nodiscard]] int namesWidth() const;
    [[nodiscard]] int rowHeight() const;
    [[nodiscard]] HeatAxis axis() const { return {m_heat->columns(), plot().width()}; }
    [[nodiscard]] QRectF cellRect(const Place& place) const;
    [[nodiscard]] QString textOf(const Place& place) const;
    void layOut();
    void paintCells(QPainter& painter) const;
    void paintNames(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void paintFrame(QPainter& painter, const Place& place, const QColor& colour) const;
    void moveTo(Place place);
    void tell();

    Theme& m_theme;
    std::shared_ptr<const TensorHeat> m_heat;
    HeatQuantity m_quantity = HeatQuantity::Headroom;
    NumberFormat m_format = NumberFormat::Fp16;
    QString m_emptyText, m_told;
    std::optional<Place> m_hover, m_current;
    std::string m_currentTensor;
    std::optional<std::int64_t> m_currentStep;
};

}  // namespace mantissa::ui
