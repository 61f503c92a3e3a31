#pragma once
// A button with a mark, a strong word and a quiet explanation in one line: mode chips (☑ fp16 emulated) and
// the heads of folded sections (▸ Training AdamW · lr 0.003). Painted in the colours of the theme; a plain
// check box or button for screen readers.
#include <QAbstractButton>
#include <QColor>

namespace mantissa::ui {

class Theme;

class CaptionButton : public QAbstractButton {
    Q_OBJECT
  public:
    enum class Mark { CheckBox, Fold };

    CaptionButton(const Theme& theme, Mark mark, QWidget* parent = nullptr);
    void setCaption(const QString& strong, const QString& quiet);
    void setEdge(const QColor& colour);  // border while checked; invalid = the theme's
    /// A chip that stays on: the control is part of every comparison.
    void setPinned(bool pinned) { m_pinned = pinned; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    void nextCheckState() override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    void paintMark(QPainter& painter, const QRect& place, const QColor& colour) const;
    [[nodiscard]] QFont strongFont() const;

    const Theme& m_theme;
    const Mark m_mark;
    QString m_strong, m_quiet;
    QColor m_edge;
    bool m_pinned = false;
};

}  // namespace mantissa::ui
