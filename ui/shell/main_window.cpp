#include "ui/shell/main_window.h"

#include <QCloseEvent>

#include "launch/run_lookup.h"
#include "ui/bridge/retranslation.h"
#include "ui/bridge/run_controller.h"
#include "ui/bridge/theme.h"
#include "ui/lessons/lessons_page.h"
#include "ui/replay/replay_page.h"
#include "ui/runs/runs_page.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/drop_target.h"
#include "ui/shell/first_comparison.h"
#include "ui/shell/icons.h"
#include "ui/shell/lessons_desk.h"
#include "ui/shell/live_host.h"
#include "ui/shell/main_frame.h"
#include "ui/shell/numerics_desk.h"
#include "ui/shell/replay_desk.h"
#include "ui/shell/run_keeper.h"
#include "ui/shell/sample_banner.h"
#include "ui/shell/startup.h"
#include "ui/shell/status_strip.h"
#include "ui/shell/top_bar.h"

namespace mantissa::ui {

MainWindow::MainWindow(Theme& theme, Language& language, WindowSettings& settings, const SetupOptions& setup, QWidget* parent)
    : QMainWindow(parent), m_theme(theme), m_language(language), m_settings(settings) {
    setWindowIcon(applicationIcon());
    m_setup = new SetupPage(theme, setup, this);
    m_runs = new RunsPage(theme, setup.runs, this);
    m_live = new LiveHost(theme, this);
    m_frame = new MainFrame(theme, m_catalog, this);
    setCentralWidget(m_frame);
    m_palette = new CommandPalette(m_catalog, m_frame);
    m_first = new FirstComparison(m_frame->sample(), *m_live, *m_setup, m_frame);
    m_frame->addPage(QStringLiteral("setup"), m_setup);
    m_frame->addPage(QStringLiteral("live"), m_live);
    m_numerics = new NumericsDesk(theme, *m_live, m_frame);
    m_frame->addPage(QStringLiteral("numerics"), m_numerics->page());
    m_frame->addPage(QStringLiteral("runs"), m_runs);
    m_lessons = new LessonsDesk(theme, setup.runs, m_frame);
    m_frame->addPage(QStringLiteral("lessons"), &m_lessons->page());
    m_replay = new ReplayDesk(theme, m_catalog, *m_live, *m_runs, *m_setup, m_frame);
    m_frame->addPageOf(QStringLiteral("live"), QStringLiteral("replay"), &m_replay->page());
    new DropTarget(*this, *m_setup);
    connectPages();
    connectActions();
    connect(new RunKeeper(m_catalog, language, *m_live, *m_runs, *m_setup, m_frame), &RunKeeper::message, this, &MainWindow::say);
    auto* texts = new Retranslation(this);
    texts->bind([this] { retranslate(); });
    if (!restoreGeometry(settings.geometry())) {
        resize(1280, 800);
    }
    showPage(settings.text("window/page"));
}

MainWindow::~MainWindow() {  // these listen to pages, and they go one by one
    delete findChild<RunKeeper*>();
    delete m_replay;
}

void MainWindow::connectPages() {
    connect(m_frame, &MainFrame::pageChosen, this, &MainWindow::showPage);
    connect(m_setup, &SetupPage::started, this, [this](const auto& folder, bool) {
        m_settings.setText("window/sample_seen", QStringLiteral("yes"));
        m_live->open(folder, m_setup->starter().hasThreadRun() ? m_setup->starter().threadControl() : nullptr);
        m_frame->sample().hide();
        m_runs->refresh();
        showPage(QStringLiteral("live"));
    });
    connect(m_setup, &SetupPage::planLineChanged, this, &MainWindow::refreshTitle);
    connect(m_setup, &SetupPage::message, this, &MainWindow::say);
    connect(m_setup, &SetupPage::joined, this, &MainWindow::openFolder);
    connect(&m_setup->probe(), &MachineProbe::changed, this, &MainWindow::refreshMachine);
    connect(&m_setup->starter(), &JobStarter::threadRunEnded, m_live, &LiveHost::threadRunEnded);
    connect(m_live, &LiveHost::titleChanged, this, &MainWindow::refreshTitle);
    connect(m_live, &LiveHost::failed, this, &MainWindow::say);
    connect(m_live, &LiveHost::setUpRequested, this, [this] { showPage(QStringLiteral("setup")); });
    connect(m_runs, &RunsPage::openRequested, this, [this](const auto& folder) { openFolder(folder); });
    connect(m_runs, &RunsPage::message, this, &MainWindow::say);
    connect(m_runs, &RunsPage::workersChanged, &m_frame->strip(), &StatusStrip::setWorkers);
    connect(m_replay, &ReplayDesk::opened, this, [this] { showPage(QStringLiteral("replay")); });
    connect(m_replay, &ReplayDesk::backRequested, this, [this] { showPage(m_pageBefore); });
    connect(m_replay, &ReplayDesk::titleChanged, this, &MainWindow::refreshTitle);
    connect(m_replay, &ReplayDesk::message, this, &MainWindow::say);
    connect(m_lessons, &LessonsDesk::titleChanged, this, &MainWindow::refreshTitle);
    connect(m_lessons, &LessonsDesk::message, this, &MainWindow::say);
    connect(m_first, &FirstComparison::pageWanted, this, &MainWindow::showPage);
    connect(m_first, &FirstComparison::message, this, &MainWindow::say);
}

void MainWindow::bind(const char* action, std::function<void()> todo) {
    connect(m_catalog.action(action), &QAction::triggered, this, std::move(todo));
}

void MainWindow::connectActions() {
    for (QAction* action : m_catalog.actions()) {
        addAction(action);
    }
    bind("plan.open", [this] { showPage(QStringLiteral("setup")), m_setup->files().openPlan(); });
    bind("plan.open_config", [this] { showPage(QStringLiteral("setup")), m_setup->files().openConfig(); });
    bind("plan.save", [this] { m_setup->files().savePlan(); });
    bind("runs.open_folder", [this] { askForFolder(); });
    bind("app.quit", [this] { close(); });
    bind("edit.undo", [this] {
        if (m_page == QLatin1String("runs") && m_runs->canUndoRemove()) {
            m_runs->undoRemove();
        } else if (m_setup->editor().undoStack().canUndo()) {
            showPage(QStringLiteral("setup"));  // nothing changes out of sight
            m_setup->editor().undoStack().undo();
        }
    });
    bind("edit.redo", [this] { showPage(QStringLiteral("setup")), m_setup->editor().undoStack().redo(); });
    bind("run.start", [this] { m_setup->startComparison(); });
    bind("run.pause", [this] { m_live->controller().pauseOrResume(); });
    bind("run.step", [this] { m_live->controller().stepOnce(); });
    bind("run.stop", [this] { m_live->controller().stop(); });
    bind("run.abort", [this] { m_live->controller().abort(); });
    bind("run.trial", [this] { m_setup->trial().again(); });
    bind("run.probe", [this] { m_setup->probe().ask(); });
    for (const char* page : {"page.setup", "page.live", "page.numerics", "page.runs", "page.lessons"}) {
        bind(page, [this, id = QString::fromLatin1(page + 5)] { showPage(id); });
    }
    bind("view.back", [this] { showPage(m_pageBefore); });
    bind("view.palette", [this] { m_palette->openOver(this); });
    bind("view.refresh", [this] { m_runs->refresh(); });
    for (const char* theme : {"view.system", "view.light", "view.dark"}) {
        bind(theme, [this, name = QString::fromLatin1(theme + 5)] { chooseTheme(name); });
    }
    bind("view.language", [this] {
        m_language.toggle();
        m_settings.setText("window/language", m_language.code());
    });
    bind("help.about", [this] { showAbout(this); });
}

void MainWindow::showPage(const QString& id) {
    const QString next = m_frame->hasPage(id) ? id : QStringLiteral("setup");
    if (next != m_page) {
        m_pageBefore = std::exchange(m_page, next);
    }
    m_frame->showPage(m_page);
    m_frame->focusPage(m_page);
    m_frame->sample().setVisible(m_page == QLatin1String("live") && m_live->isSample());
    refreshTitle();
}

void MainWindow::openFolder(const std::filesystem::path& folder) {
    m_live->open(folder, nullptr);
    showPage(QStringLiteral("live"));
}

Result<void> MainWindow::follow(const WindowOptions& options) {
    MachineSources sources = planSourcesOfMachine();
    const std::string plan = options.plan.empty() ? "digits-cnn" : options.plan;
    if (auto taken = m_setup->startFrom(plan, std::move(sources.layers)); !taken) {
        return taken;
    }
    m_setup->showProblem(sources.problem);
    if (!options.page.isEmpty() && options.page != QLatin1String("replay")) {
        showPage(options.page);
    }
    m_lessons->page().choose(options.lesson, options.answer);
    if (!options.open.empty()) {
        if (auto readable = checkFolder(options.open); !readable) {
            return readable;
        }
        m_live->open(options.open, nullptr);
        if (options.page == QLatin1String("replay")) {
            return m_replay->open(options.open, options.step);
        }
        showPage(options.page.isEmpty() ? QStringLiteral("live") : options.page);
    } else if (options.startComparison) {
        m_first->startWhenReady();
    } else if (const auto running = find_running_jobs(m_setup->runsFolder());
               options.plan.empty() && options.page.isEmpty() && !running.empty()) {
        openFolder(running.front());  // a window that comes back finds what still runs
    } else if (options.page.isEmpty() && m_settings.text("window/sample_seen") == QLatin1String("no") &&
               sampleFolder()) {
        m_first->showSample();
    }
    return {};
}

void MainWindow::refreshMachine() {
    const MachineProbe& probe = m_setup->probe();
    const MachineLine line = machineLine(probe, m_setup->editor().plan());
    m_frame->strip().setDevice(line.device, line.details);
    const bool missing = probe.state() == MachineProbe::State::NoEngine;
    m_frame->strip().setEngine(QString::fromStdString(probe.report().torch_version),
                               m_setup->editor().plan().training.deterministic, missing);
    m_first->refresh();
}

void MainWindow::refreshTitle() {
    if ((m_page == QLatin1String("live") || m_page == QLatin1String("numerics")) && !m_live->title().isEmpty()) {
        m_frame->bar().setTitle(m_live->title(), m_live->subtitle());
    } else if (m_page == QLatin1String("replay")) {
        m_frame->bar().setTitle(m_replay->title(), m_replay->subtitle());
    } else if (m_page == QLatin1String("numerics")) {
        m_frame->bar().setTitle(tr("Numerics"), QString());
    } else if (m_page == QLatin1String("lessons")) {
        m_frame->bar().setTitle(m_lessons->page().title(), QString());
    } else if (m_page == QLatin1String("runs")) {
        m_frame->bar().setTitle(tr("Runs"), m_runs->folderText());
    } else {
        m_frame->bar().setTitle(tr("New comparison"), m_setup->planLine());
    }
    setWindowTitle(m_frame->bar().title() + QStringLiteral(" – Mantissa"));
}

void MainWindow::chooseTheme(const QString& name) {
    m_theme.setChoice(themeChoice(name));
    m_settings.setText("window/theme", name);
}

void MainWindow::retranslate() {
    m_catalog.retranslate();
    m_frame->retranslate();
    m_live->setLanguage(m_language.code());
    m_numerics->setLanguage(m_language.code().toStdString());
    m_replay->page().setLanguage(m_language.code().toStdString());
    m_lessons->page().setLanguage(m_language.code().toStdString());
    refreshMachine();
    refreshTitle();
}

void MainWindow::askForFolder() {
    askForRunFolder(this, m_runs->folderText(), [this](const QString& name) {
        const auto readable = checkFolder(name.toStdString());
        readable ? openFolder(name.toStdString()) : say(QString::fromStdString(describe(readable.error())));
    });
}

void MainWindow::say(const QString& sentence) {
    m_frame->strip().showMessage(sentence);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    m_settings.setGeometry(saveGeometry());
    m_settings.setText("window/page", m_page == QLatin1String("replay") ? QStringLiteral("live") : m_page);
    QMainWindow::closeEvent(event);
}

}  // namespace mantissa::ui
