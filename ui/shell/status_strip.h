#pragma once
// Below the pages: workers, what the device can do, LibTorch and determinism, and passing messages.
#include <QFrame>

class QLabel;

namespace mantissa::ui {

class StatusStrip : public QFrame {
    Q_OBJECT
  public:
    explicit StatusStrip(QWidget* parent = nullptr);
    void setWorkers(int workers);
    /// E.g. "CPU · AMD EPYC · fp16, bf16 emulated"; `lasting` lines stay until replaced.
    void setDevice(const QString& line, const QString& toolTip);
    /// An empty version says that no engine module is there (yet).
    void setEngine(const QString& torchVersion, bool deterministic, bool stillMissing);
    /// A passing message on the right, for some seconds.
    void showMessage(const QString& text);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void retranslate();
    void elide();

    QLabel* m_dot;
    QLabel* m_workers;
    QLabel* m_device;
    QLabel* m_engine;
    QLabel* m_right;
    int m_workerCount = 0;
    QString m_torchVersion, m_message;
    bool m_deterministic = true, m_engineMissing = false;
};

}  // namespace mantissa::ui
