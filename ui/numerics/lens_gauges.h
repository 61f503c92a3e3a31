#pragma once
// One tensor through the eyes of each format at the chosen loss scale: a bar of its zones, and the shares as numbers beside it (so the
// widget is its own table). The numbers are labels: read aloud, selectable.
#include <QWidget>
#include <array>
#include <optional>

#include "ui/bridge/theme.h"
#include "ui/numerics/tensor_heat.h"

class QLabel;

namespace mantissa::ui {

class LensGauges : public QWidget {
    Q_OBJECT
  public:
    explicit LensGauges(Theme& theme, QWidget* parent = nullptr);

    /// By lensFormats; empty: nothing to read.
    void setReadings(const std::optional<std::array<LensReading, 4>>& readings);
    void setFormat(NumberFormat format);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    class Bar;
    struct Row {
        QLabel* name;
        Bar* bar;
        QLabel* flush;
        QLabel* subnormal;
        QLabel* overflow;
        QLabel* sqnr;
    };
    void retranslate();
    void refresh();

    Theme& m_theme;
    std::array<QLabel*, 6> m_titles{};
    std::array<Row, 4> m_rows{};
    std::optional<std::array<LensReading, 4>> m_readings;
    NumberFormat m_format = NumberFormat::Fp16;
};

}  // namespace mantissa::ui
