#pragma once
// One line that ends in an ellipsis where it is too long; the text itself stays whole, and the tool tip shows it. Takes what width it is
// given. Plain text.
#include <QLabel>

namespace mantissa::ui {

class ElidedLabel : public QLabel {
    Q_OBJECT
  public:
    explicit ElidedLabel(QWidget* parent = nullptr);
    /// Sets the tool tip too.
    void setWholeText(const QString& text);
    /// As painted.
    [[nodiscard]] QString shownText() const;

  protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace mantissa::ui
