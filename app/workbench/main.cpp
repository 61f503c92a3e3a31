// The workbench: one window. Without a display it ends with 69 and says what to run in the terminal instead.
#include <QApplication>
#include <QTimer>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "base/paths.h"
#include "base/version.h"
#include "ui/bridge/theme.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/main_window.h"
#include "ui/shell/screenshot.h"
#include "ui/shell/startup.h"

namespace {

using namespace mantissa;
using namespace mantissa::ui;

bool isSet(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

/// QApplication aborts without a display, so this is asked before.
bool hasDisplay(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]).starts_with("-platform")) {
            return true;
        }
    }
    return isSet("DISPLAY") || isSet("WAYLAND_DISPLAY") || isSet("QT_QPA_PLATFORM");
}

int sayNoDisplay(const WindowOptions& options) {
    const std::string plan = options.plan.empty() ? "digits-cnn" : options.plan;
    std::cerr << "mantissa-workbench: no display (DISPLAY and WAYLAND_DISPLAY are not set).\n"
                 "The same comparison in the terminal:\n  mantissa compare "
              << plan << " --modes no,fp16,bf16\n";
    return exit_code(ErrorCode::NoDisplay);
}

int fail(const Error& error) {
    std::cerr << "mantissa-workbench: " << describe(error) << '\n';
    return exit_code(error.code);
}

int runWindow(QApplication& application, const WindowOptions& options) {
    loadResources();
    WindowSettings settings;
    Theme theme;
    theme.setChoice(themeChoice(options.theme.isEmpty() ? settings.text("window/theme") : options.theme));
    theme.apply();
    Language language;
    language.set(options.language.isEmpty() ? settings.text("window/language") : options.language);
    SetupOptions setup;
    setup.runs = runs_folder(options.runs);
    MainWindow window(theme, language, settings, setup);
    if (options.size.isValid()) {
        window.resize(options.size);
    }
    window.show();
    if (const auto followed = window.follow(options); !followed) {
        return fail(followed.error());
    }
    int pictureCode = 0;
    if (!options.screenshot.isEmpty()) {
        const int wait = options.screenshotAfterMs > 0 ? options.screenshotAfterMs : 1500;
        QTimer::singleShot(wait, &window, [&] {
            if (const auto saved = savePicture(window, options.screenshot); !saved) {
                pictureCode = fail(saved.error());
            }
            QApplication::quit();
        });
    }
    const int code = application.exec();
    return pictureCode != 0 ? pictureCode : code;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the write that met it
    QStringList arguments;
    for (int i = 1; i < argc; ++i) {
        arguments << QString::fromLocal8Bit(argv[i]);
    }
    if (arguments.contains(QStringLiteral("--help")) || arguments.contains(QStringLiteral("-h"))) {
        std::cout << WindowOptions::help().toStdString();
        return 0;
    }
    if (arguments.contains(QStringLiteral("--version"))) {
        std::cout << "mantissa-workbench " << mantissa::version << '\n';
        return 0;
    }
    const bool display = hasDisplay(argc, argv);
    if (display) {
        QApplication::setApplicationName(QStringLiteral("mantissa-workbench"));
        QApplication::setOrganizationName(QStringLiteral("Mantissa"));
        QApplication::setDesktopFileName(QStringLiteral("mantissa-workbench"));
        QApplication application(argc, argv);  // takes Qt's own options out of argv
        const auto options = WindowOptions::parse(QApplication::arguments().mid(1));
        return options ? runWindow(application, *options) : fail(options.error());
    }
    const auto options = WindowOptions::parse(arguments);
    return options ? sayNoDisplay(*options) : fail(options.error());
}
