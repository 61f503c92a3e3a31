#pragma once
// The window: rail of pages, bar above, strip below. It connects the pages with the catalogue of commands and
// remembers where it was; everything else is a page's own business. Window's thread only.
#include <QMainWindow>
#include <filesystem>
#include <functional>

#include "ui/shell/action_catalog.h"
#include "ui/shell/language.h"
#include "ui/shell/window_options.h"
#include "ui/shell/window_settings.h"

namespace mantissa::ui {

class CommandPalette;
class FirstComparison;
class LessonsDesk;
class LiveHost;
class MainFrame;
class NumericsDesk;
class ReplayDesk;
class RunsPage;
class SetupPage;
class Theme;
struct SetupOptions;

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    MainWindow(Theme& theme, Language& language, WindowSettings& settings, const SetupOptions& setup,
               QWidget* parent = nullptr);
    ~MainWindow() override;

    /// What the command line asked for, after the window is shown. Errors name what is wrong with it.
    Result<void> follow(const WindowOptions& options);
    void showPage(const QString& id);
    [[nodiscard]] QString currentPage() const { return m_page; }
    /// A run or comparison folder, on the page Live.
    void openFolder(const std::filesystem::path& folder);
    [[nodiscard]] ActionCatalog& catalog() { return m_catalog; }
    [[nodiscard]] SetupPage& setupPage() { return *m_setup; }
    [[nodiscard]] RunsPage& runsPage() { return *m_runs; }
    [[nodiscard]] ReplayDesk& replayDesk() { return *m_replay; }
    [[nodiscard]] LessonsDesk& lessonsDesk() { return *m_lessons; }

  protected:
    void closeEvent(QCloseEvent* event) override;

  private:
    void connectPages();
    void connectActions();
    void bind(const char* action, std::function<void()> todo);
    void retranslate();
    void chooseTheme(const QString& name);
    void refreshTitle();
    void refreshMachine();
    void askForFolder();
    void say(const QString& sentence);

    Theme& m_theme;
    Language& m_language;
    WindowSettings& m_settings;
    ActionCatalog m_catalog;
    CommandPalette* m_palette;
    MainFrame* m_frame;
    SetupPage* m_setup;
    LiveHost* m_live;
    RunsPage* m_runs;
    NumericsDesk* m_numerics;
    ReplayDesk* m_replay;
    LessonsDesk* m_lessons;
    FirstComparison* m_first;
    QString m_page, m_pageBefore;
};

}  // namespace mantissa::ui
