#pragma once
// Where the magnitudes of one tensor lie: a bar per exponent (2^-126 … 2^127, those of subnormal float32 values as one), over the zones
// of a format: flushed to 0, subnormal, normal, overflow. The loss scale moves ghost bars; the recorded ones stay. The share axis is
// logarithmic, since a thousandth of the values is what decides. Arrow keys read one exponent after the other.
#include <QWidget>
#include <array>
#include <optional>

#include "judge/format_lens.h"
#include "ui/bridge/theme.h"

namespace mantissa::ui {

/// Shares of the finite values that aren't 0, by exponent field of float32 (0 … 255).
struct ExponentShares {
    std::array<double, 256> share{};
    int first = 0, last = -1;  // fields with values; last < first: none
    [[nodiscard]] bool isEmpty() const { return last < first; }
};
[[nodiscard]] ExponentShares exponentShares(const ExponentHistogram& histogram);
/// Exponent of a field: -127 stands for all subnormal float32 values.
[[nodiscard]] constexpr int exponentOf(int field) { return field - 127; }

/// Where a format's zones begin, as log2 of magnitude.
struct FormatZones {
    double subnormal = 0, normal = 0, overflow = 0;
};
[[nodiscard]] FormatZones zonesOf(NumberFormat format);
enum class Zone { Flush, Subnormal, Normal, Overflow };
/// Of the lower edge of an exponent, moved by the loss scale.
[[nodiscard]] Zone zoneOf(int exponent, NumberFormat format);
[[nodiscard]] QString zoneName(Zone zone);

class HistogramView : public QWidget {
    Q_OBJECT
  public:
    explicit HistogramView(Theme& theme, QWidget* parent = nullptr);

    void setHistogram(const ExponentShares& shares);
    void setFormat(NumberFormat format);
    void setLog2Scale(int log2Scale);
    void setEmptyText(const QString& text) { m_emptyText = text, update(); }
    /// Of the exponent under the cursor: "2^-14: 3.1 % of the values, at 2^2 with the loss scale: normal in fp16".
    [[nodiscard]] QString readout() const;
    [[nodiscard]] std::optional<int> cursor() const { return m_cursor; }  // exponent field
    [[nodiscard]] QSize sizeHint() const override { return {420, 190}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 110}; }

  Q_SIGNALS:
    void readoutChanged(const QString& text);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    [[nodiscard]] QRectF plot() const;
    [[nodiscard]] double xOf(double log2Magnitude) const;
    [[nodiscard]] double heightOf(double share) const;
    void paintZones(QPainter& painter) const;
    void paintBars(QPainter& painter) const;
    void paintAxis(QPainter& painter) const;
    void setCursorField(std::optional<int> field);
    void updateRange();
    void tell();

    Theme& m_theme;
    ExponentShares m_shares;
    NumberFormat m_format = NumberFormat::Fp16;
    int m_log2Scale = 0;
    double m_from = -30, m_to = 20;  // log2 of magnitude
    double m_leastShare = 1e-4;
    std::optional<int> m_cursor;
    QString m_emptyText, m_told;
};

}  // namespace mantissa::ui
