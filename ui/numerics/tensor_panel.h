#pragma once
// One tensor at one step: histogram over the zones of a format, the slider of the loss scale, a gauge per format, and the share lost
// over the loss scale. The slider begins where the run's scaler stands and stays where a person puts it.
#include <QFrame>
#include <memory>

#include "ui/bridge/theme.h"
#include "ui/numerics/numerics_reader.h"

class QLabel;
class QSlider;
class QToolButton;

namespace mantissa::ui {

class HistogramView;
class LensGauges;
class LossCurve;
class TwinCard;

class TensorPanel : public QWidget {
    Q_OBJECT
  public:
    explicit TensorPanel(Theme& theme, QWidget* parent = nullptr);

    void setPick(std::shared_ptr<const TensorPick> pick);
    void setFormat(NumberFormat format);
    [[nodiscard]] int log2Scale() const;
    void setLog2Scale(int log2Scale);
    void setEmptyText(const QString& text);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    QWidget* buildSlider();
    void retranslate();
    void refresh();
    void refreshScale();
    void fillTables();
    [[nodiscard]] QString note() const;

    Theme& m_theme;
    HistogramView* m_histogram;
    LensGauges* m_gauges;
    LossCurve* m_curve;
    TwinCard* m_histogramCard;
    TwinCard* m_curveCard;
    QLabel* m_scaleLabel;
    QLabel* m_scaleValue;
    QLabel* m_note;
    QSlider* m_slider;
    QToolButton* m_toScaler;
    std::shared_ptr<const TensorPick> m_pick;
    NumberFormat m_format = NumberFormat::Fp16;
    bool m_isMoved = false;  // by a person
};

}  // namespace mantissa::ui
