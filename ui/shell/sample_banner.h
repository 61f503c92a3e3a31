#pragma once
// First start: a recorded comparison is on the page Live, and this line says so, with one large button to do
// the same here.
#include <QWidget>

class QLabel;
class QPushButton;

namespace mantissa::ui {

class Retranslation;

class SampleBanner : public QWidget {
    Q_OBJECT
  public:
    explicit SampleBanner(QWidget* parent = nullptr);
    /// Whether the button can start something now, and why not.
    void setReady(bool ready, const QString& reason);

  Q_SIGNALS:
    void tryHere();
    void dismissed();

  private:
    QLabel* m_text;
    QPushButton *m_try, *m_close;
    Retranslation* m_texts;
    QString m_reason;
};

}  // namespace mantissa::ui
