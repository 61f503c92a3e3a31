#pragma once
#include <QTemporaryDir>
#include <QToolButton>
#include <memory>

#include "fake_machine.h"
#include "ui/bridge/theme.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/language.h"
#include "ui/shell/main_window.h"
#include "ui/shell/window_settings.h"

namespace mantissa::ui {

/// One window with its surroundings; the settings file outlives it.
struct Desk {
    explicit Desk(const QTemporaryDir& folder, bool hasEngine = true)
        : settings(folder.filePath("settings.ini")),
          machine(fake::Machine::answering(fake::cpuReport()), hasEngine) {
        theme.setChoice(Theme::Choice::Light);
        theme.apply();
        language.set(settings.text("window/language") == QLatin1String("zh") ? "zh" : "en");
        SetupOptions setup{folder.filePath("runs").toStdString(), MANTISSA_RESOURCES_DIR "/presets",
                           machine.places(), trials.starter()};
        window = std::make_unique<MainWindow>(theme, language, settings, setup);
        window->show();
    }
    ~Desk() {
        window->close();
        window.reset();
        language.set("en");
    }
    [[nodiscard]] QToolButton* rail(const char* page) const {
        return window->findChild<QToolButton*>(QLatin1String("rail.") + QLatin1String(page));
    }
    WindowSettings settings;
    fake::Machine machine;
    fake::Trials trials;
    Theme theme;
    Language language;
    std::unique_ptr<MainWindow> window;
};

}  // namespace mantissa::ui
