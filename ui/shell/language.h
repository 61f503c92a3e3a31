#pragma once
// English or 简体中文, switched while the window runs. Sets the default QLocale, so that pages ask
// `QLocale().language()`.
#include <QObject>
#include <QString>
#include <QTranslator>

namespace mantissa::ui {

class Language : public QObject {
    Q_OBJECT
  public:
    explicit Language(QObject* parent = nullptr);
    /// "en" or "zh"; anything else is taken as the system's language. Returns what it became.
    QString set(const QString& code);
    [[nodiscard]] QString code() const { return m_code; }
    void toggle() { set(m_code == QLatin1String("zh") ? QStringLiteral("en") : QStringLiteral("zh")); }
    [[nodiscard]] static QString ofSystem();

  Q_SIGNALS:
    void changed(const QString& code);

  private:
    QTranslator m_own, m_qt;
    QString m_code = QStringLiteral("en");
};

}  // namespace mantissa::ui
