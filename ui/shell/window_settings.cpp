#include "ui/shell/window_settings.h"

#include "base/assert.h"

namespace mantissa::ui {
namespace {

constexpr const char* geometryKey = "window/geometry";

const SettingSpec& specOf(const char* key) {
    for (const SettingSpec& spec : WindowSettings::table()) {
        if (QLatin1String(spec.key) == QLatin1String(key)) {
            return spec;
        }
    }
    MANTISSA_ASSERT(!"a key of the settings table");
    return WindowSettings::table().front();
}

}  // namespace

const std::vector<SettingSpec>& WindowSettings::table() {
    static const std::vector<SettingSpec> specs{
        {"window/page", "setup", {QStringLiteral("setup"), QStringLiteral("live"), QStringLiteral("numerics"), QStringLiteral("runs"), QStringLiteral("lessons")}},
        {"window/theme",
         "system",
         {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark")}},
        {"window/language", "system", {QStringLiteral("system"), QStringLiteral("en"), QStringLiteral("zh")}},
        {"window/sample_seen", "no", {QStringLiteral("no"), QStringLiteral("yes")}},
    };
    return specs;
}

WindowSettings::WindowSettings(const QString& file)
    : m_store(file.isEmpty() ? std::make_unique<QSettings>()
                             : std::make_unique<QSettings>(file, QSettings::IniFormat)) {}

QString WindowSettings::text(const char* key) const {
    const SettingSpec& spec = specOf(key);
    const QString stored = m_store->value(QLatin1String(key)).toString();
    const bool usable = spec.allowed.isEmpty() ? !stored.isEmpty() : spec.allowed.contains(stored);
    return usable ? stored : QLatin1String(spec.fallback);
}

void WindowSettings::setText(const char* key, const QString& value) {
    const SettingSpec& spec = specOf(key);
    MANTISSA_ASSERT(spec.allowed.isEmpty() || spec.allowed.contains(value));
    m_store->setValue(QLatin1String(key), value);
}

QByteArray WindowSettings::geometry() const {
    return m_store->value(QLatin1String(geometryKey)).toByteArray();
}

void WindowSettings::setGeometry(const QByteArray& geometry) {
    m_store->setValue(QLatin1String(geometryKey), geometry);
}

}  // namespace mantissa::ui
