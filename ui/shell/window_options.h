#pragma once
// What the workbench's command line asks for, as values.
#include <QSize>
#include <QString>
#include <QStringList>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace mantissa::ui {

struct WindowOptions {
    std::string plan;               // preset name or plan file to begin with; empty = the default preset
    bool startComparison = false;   // --compare: press the button as soon as the engine answers
    std::filesystem::path open;     // a run or comparison folder
    std::filesystem::path runs;     // --runs-dir
    QString lesson;  // of page lessons: number or id
    int answer = 0;  // from 1: the lesson is taken at once
    std::optional<std::int64_t> step;  // of page replay; empty = the first bad one
    QString page, theme, language;  // empty = as last time
    QSize size;
    // Pictures of the window, for tests and documentation.
    QString screenshot;
    int screenshotAfterMs = 0;

    [[nodiscard]] static Result<WindowOptions> parse(const QStringList& arguments);
    [[nodiscard]] static QString help();
};

}  // namespace mantissa::ui
