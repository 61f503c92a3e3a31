#include "ui/shell/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>

namespace mantissa::ui {

Language::Language(QObject* parent) : QObject(parent) {}

QString Language::ofSystem() {
    return QLocale::system().language() == QLocale::Chinese ? QStringLiteral("zh") : QStringLiteral("en");
}

QString Language::set(const QString& code) {
    const bool known = code == QLatin1String("en") || code == QLatin1String("zh");
    const QString wanted = known ? code : ofSystem();
    const bool chinese = wanted == QLatin1String("zh");
    QLocale::setDefault(chinese ? QLocale(QLocale::Chinese, QLocale::China)
                                : QLocale(QLocale::English, QLocale::UnitedStates));
    if (wanted == m_code && !m_own.isEmpty()) {
        return m_code;
    }
    m_code = wanted;
    QCoreApplication::removeTranslator(&m_qt);
    QCoreApplication::removeTranslator(&m_own);
    // Qt's own buttons ("Save", "Cancel"); a machine without Qt's translations keeps them in English.
    if (chinese &&
        m_qt.load(QStringLiteral("qtbase_zh_CN"), QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
        QCoreApplication::installTranslator(&m_qt);
    }
    // English has a file of its own too: its plurals.
    if (m_own.load(chinese ? QStringLiteral(":/i18n/mantissa_zh_CN.qm")
                           : QStringLiteral(":/i18n/mantissa_en.qm"))) {
        QCoreApplication::installTranslator(&m_own);
    }
    Q_EMIT changed(m_code);
    return m_code;
}

}  // namespace mantissa::ui
