#pragma once
// The Live page before anything runs: one sentence and the two ways to something worth looking at.
#include <QWidget>

namespace mantissa::ui {

class EmptyLive : public QWidget {
    Q_OBJECT
  public:
    explicit EmptyLive(QWidget* parent = nullptr);

  Q_SIGNALS:
    void sampleRequested();
    void setUpRequested();
};

}  // namespace mantissa::ui
