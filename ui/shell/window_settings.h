#pragma once
// What the window remembers between starts, as one table: key, default, allowed values. Settings of a run are
// never among them: those are a RunPlan, saved with the run.
#include <QByteArray>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

namespace mantissa::ui {

struct SettingSpec {
    const char* key;
    const char* fallback;
    QStringList allowed;  // empty = any text
};

class WindowSettings {
  public:
    /// Without a file: the user's own settings (QSettings' default place).
    explicit WindowSettings(const QString& file = {});
    [[nodiscard]] static const std::vector<SettingSpec>& table();
    /// The stored value when it is allowed, else the fallback.
    [[nodiscard]] QString text(const char* key) const;
    void setText(const char* key, const QString& value);
    [[nodiscard]] QByteArray geometry() const;
    void setGeometry(const QByteArray& geometry);

  private:
    std::unique_ptr<QSettings> m_store;
};

}  // namespace mantissa::ui
