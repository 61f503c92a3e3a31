// The window as a whole: pages by keyboard, language and theme while it runs, what it remembers, a recording
// opened, its size.
#include "ui/shell/main_window.h"

#include <QApplication>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "desk.h"
#include "fixture_runs.h"
#include "ui/bridge/theme.h"
#include "ui/charts/step_range.h"
#include "ui/live/live_page.h"
#include "ui/live/loss_panel.h"
#include "ui/runs/runs_page.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/screenshot.h"
#include "ui/shell/startup.h"

namespace mantissa::ui {

class MainWindowTest : public QObject {
    Q_OBJECT


  private Q_SLOTS:
    void initTestCase() { loadResources(); }

    void pagesByRailAndByKeyboard() {
        const QTemporaryDir folder;
        Desk desk(folder);
        QTest::mouseClick(desk.rail("runs"), Qt::LeftButton);
        QVERIFY(desk.window->currentPage() == QLatin1String("runs") && desk.window->runsPage().isVisible());
        desk.window->catalog().action("page.live")->trigger();
        QCOMPARE(desk.window->currentPage(), QStringLiteral("live"));
        QVERIFY(desk.rail("live")->isChecked());
        QVERIFY(QTest::qWaitForWindowActive(desk.window.get()));
        QTest::keyClick(desk.window.get(), Qt::Key_1, Qt::ControlModifier);
        QCOMPARE(desk.window->currentPage(), QStringLiteral("setup"));
        // No dead entries: the rail has exactly the pages that are built.
        QCOMPARE(desk.window->findChildren<QToolButton*>(QRegularExpression("^rail\\.")).size(), 5);
    }

    void languageChangesWhileItRuns() {
        const QTemporaryDir folder;
        Desk desk(folder);
        auto* compare = desk.window->findChild<QPushButton*>("compareButton");
        QVERIFY(desk.window->setupPage().startFrom("digits-mlp").ok());
        QCOMPARE(compare->text(), QStringLiteral("Compare no / fp16 / bf16"));
        QCOMPARE(desk.rail("setup")->text(), QStringLiteral("Set up"));
        desk.window->catalog().action("view.language")->trigger();
        QTRY_COMPARE(desk.rail("setup")->text(), QStringLiteral("设置"));
        QCOMPARE(compare->text(), QStringLiteral("对照 no / fp16 / bf16"));
        QCOMPARE(desk.window->catalog().action("app.quit")->text(), QStringLiteral("退出"));
        desk.window->catalog().action("view.language")->trigger();
        QTRY_COMPARE(compare->text(), QStringLiteral("Compare no / fp16 / bf16"));
    }

    void noLabelStaysEnglishInChinese() {
        const QTemporaryDir folder;
        Desk desk(folder);
        QVERIFY(desk.window->setupPage().startFrom("digits-mlp").ok());
        desk.window->catalog().action("view.language")->trigger();
        QTRY_VERIFY(desk.window->setupPage().trial().stepMsOfAllModes().has_value());
        // Words of three letters that are no ids, names or units must not be left in labels and buttons of
        // Set up.
        const QRegularExpression words(
            "\\b(the|and|this|what|where|how|long|steps|about|training|none|every|open|save|only|runs)\\b",
            QRegularExpression::CaseInsensitiveOption);
        for (const QLabel* label : desk.window->setupPage().findChildren<QLabel*>()) {
            if (!label->isVisibleTo(&desk.window->setupPage()) ||
                label->objectName() == QLatin1String("answer")) {
                continue;
            }
            QVERIFY2(!words.match(label->text()).hasMatch(), qPrintable(label->text()));
        }
        for (const QPushButton* button : desk.window->setupPage().findChildren<QPushButton*>()) {
            QVERIFY2(!words.match(button->text()).hasMatch(), qPrintable(button->text()));
        }
    }

    void remembersPageLanguageAndTheme() {
        const QTemporaryDir folder;
        {
            Desk desk(folder);
            desk.window->showPage("runs");
            desk.window->catalog().action("view.dark")->trigger();
            QVERIFY(desk.theme.isDark());
            desk.window->catalog().action("view.language")->trigger();
            desk.window->resize(1100, 700);
        }
        Desk again(folder);
        QCOMPARE(again.window->currentPage(), QStringLiteral("runs"));
        QCOMPARE(again.settings.text("window/theme"), QStringLiteral("dark"));
        QCOMPARE(again.language.code(), QStringLiteral("zh"));
        QCOMPARE(again.window->size(), QSize(1100, 700));
    }

    void endsOnEveryPageAndBeginsThere() {
        for (const char* page : {"setup", "live", "numerics", "runs", "lessons"}) {
            const QTemporaryDir folder;
            {
                Desk desk(folder);
                desk.window->showPage(page);
                desk.window->close();
            }
            Desk again(folder);
            QCOMPARE(again.window->currentPage(), QString::fromLatin1(page));
            if (again.window->currentPage() == QLatin1String("numerics")) {
                QVERIFY2(again.window->windowTitle().startsWith("Numerics"), qPrintable(again.window->windowTitle()));
            }
        }
    }

    void strangeSettingsFallBack() {
        const QTemporaryDir folder;
        {
            QSettings store(folder.filePath("settings.ini"), QSettings::IniFormat);
            store.setValue("window/page", "laboratory");
            store.setValue("window/theme", 17);
            store.setValue("window/geometry", "junk");
        }
        Desk desk(folder);
        QCOMPARE(desk.window->currentPage(), QStringLiteral("setup"));
        QCOMPARE(desk.settings.text("window/theme"), QStringLiteral("system"));
    }

    void runSettingsAreNeverKept() {
        const QTemporaryDir folder;
        {
            Desk desk(folder);
            QVERIFY(desk.window->setupPage().editor().edit("training.seed", "4711"));
        }
        QFile file(folder.filePath("settings.ini"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray kept = file.readAll();
        QVERIFY(!kept.isEmpty());
        QVERIFY(!kept.contains("4711"));
    }

    void opensARecordingAndNamesIt() {
        const QTemporaryDir folder;
        fixture::Options ended;
        ended.ended = true;
        const auto comparison = fixture::writeComparison(folder.filePath("runs").toStdString(), ended);
        Desk desk(folder);
        WindowOptions options;
        options.open = comparison.folder;
        QVERIFY(desk.window->follow(options).ok());
        QCOMPARE(desk.window->currentPage(), QStringLiteral("live"));
        QTRY_VERIFY2(desk.window->windowTitle().contains("fp16"), qPrintable(desk.window->windowTitle()));
        desk.window->catalog()
            .action("view.language")
            ->trigger();  // the page is made anew and shows the same
        QTRY_VERIFY2(desk.window->windowTitle().contains("fp16"), qPrintable(desk.window->windowTitle()));
        WindowOptions wrong;
        wrong.open = folder.path().toStdString();
        const auto refused = desk.window->follow(wrong);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message.find("comparison.json") != std::string::npos);
    }

    void firstStartShowsTheSampleUntilARunWasStarted() {
        const QTemporaryDir folder;
        const QTemporaryDir resources;
        const std::filesystem::path root = resources.path().toStdString();
        for (const char* part : {"presets", "texts"}) {
            std::filesystem::create_directory_symlink(std::filesystem::path(MANTISSA_RESOURCES_DIR) / part,
                                                      root / part);
        }
        fixture::Options ended;
        ended.ended = true;
        (void)fixture::writeComparison(root / "samples", ended);
        qputenv("MANTISSA_RESOURCES", resources.path().toLocal8Bit());
        {
            Desk desk(folder);
            QVERIFY(desk.window->follow({}).ok());
            QCOMPARE(desk.window->currentPage(), QStringLiteral("live"));
            auto* banner = desk.window->findChild<QWidget*>("sampleBanner");
            auto* tryHere = banner->findChild<QPushButton*>("tryHere");
            QVERIFY(banner->isVisible());
            QTRY_VERIFY(tryHere->isEnabled());
            QCOMPARE(samplePreset(), QStringLiteral("gated-overflow"));
            tryHere->click();  // the same comparison, not the one that Set up happened to hold
            QCOMPARE(desk.window->setupPage().editor().plan().name, std::string("gated-overflow"));
            auto* live = desk.window->findChild<LivePage*>();
            PlotOptions chosen = live->lossPanel().lossOptions();
            chosen.smoothingSteps = 10;
            live->lossPanel().setLossOptions(chosen);
            desk.window->catalog().action("view.language")->trigger();
            QTRY_VERIFY(desk.window->findChild<LivePage*>()->lossPanel().lossOptions() ==
                        chosen);  // language changes words only
            desk.window->catalog().action("view.language")->trigger();
            desk.window->showPage("runs");
            QVERIFY(!banner->isVisible());
            desk.settings.setText("window/sample_seen", "yes");  // as after the first comparison of one's own
        }
        Desk again(folder);
        QVERIFY(again.window->follow({}).ok());
        QCOMPARE(again.window->currentPage(), QStringLiteral("runs"));
        qunsetenv("MANTISSA_RESOURCES");
    }

    void undoChangesNothingOutOfSight() {
        const QTemporaryDir folder;
        Desk desk(folder);
        fixture::Options ended;
        ended.ended = true;
        const fixture::Comparison made =
            fixture::writeComparison(folder.filePath("runs").toStdString(), ended);
        PlanEditor& editor = desk.window->setupPage().editor();
        QVERIFY(editor.edit("training.seed", "11"));
        desk.window->showPage("runs");
        desk.window->runsPage().refresh();
        RunsPage& runs = desk.window->runsPage();
        QTRY_COMPARE(runs.model().rowCount(), 1);
        runs.removeEntry(RunEntry(runs.model().entries().front()));
        QVERIFY(runs.canUndoRemove());
        QVERIFY(!std::filesystem::exists(made.folder));
        desk.window->catalog().action("edit.undo")->trigger();  // of what was done on this page
        QTRY_VERIFY(std::filesystem::exists(made.folder / "comparison.json"));
        QCOMPARE(editor.plan().training.seed, std::uint64_t{11});
        QCOMPARE(desk.window->currentPage(), QStringLiteral("runs"));
        desk.window->catalog().action("edit.undo")->trigger();
        QCOMPARE(desk.window->currentPage(), QStringLiteral("setup"));
        QVERIFY(editor.plan().training.seed != 11);
    }

    void sampleIsThereWhileTheEngineIsBuilt() {
        const QTemporaryDir folder;
        Desk desk(folder, false);
        WindowOptions options;
        options.plan = "digits-mlp";
        options.startComparison = true;
        QVERIFY(desk.window->follow(options).ok());
        QCOMPARE(desk.window->currentPage(), QStringLiteral("live"));
        auto* banner = desk.window->findChild<QWidget*>("sampleBanner");
        QVERIFY(banner->isVisible());
        QVERIFY(!banner->findChild<QPushButton*>("tryHere")->isEnabled());
        QVERIFY(banner->findChild<QLabel*>()->text().contains("starts by itself"));
        QCOMPARE(desk.window->setupPage().editor().plan().name, std::string("digits-mlp"));
        auto& starter = desk.window->setupPage().starter();
        QCOMPARE(starter.isStarting(), false);
        const QSignalSpy started(&starter, &JobStarter::started);
        const QSignalSpy failed(&starter, &JobStarter::failed);  // the fake program is no supervisor
        desk.machine.makeEngine();
        QTRY_VERIFY_WITH_TIMEOUT(desk.window->setupPage().probe().state() == MachineProbe::State::Known,
                                 10000);
        QTRY_COMPARE(started.count() + failed.count(), 1);
    }

    void unknownPresetIsAnError() {
        const QTemporaryDir folder;
        Desk desk(folder);
        WindowOptions options;
        options.plan = "digits-cmm";
        const auto followed = desk.window->follow(options);
        QVERIFY(!followed.ok());
        QVERIFY2(describe(followed.error()).find("digits-cnn") != std::string::npos,
                 describe(followed.error()).c_str());
    }

    void fitsSmallScreens_data() {
        QTest::addColumn<QString>("language");
        QTest::newRow("English") << "en";
        QTest::newRow("Chinese") << "zh";
    }
    void fitsSmallScreens() {
        QFETCH(QString, language);
        const QTemporaryDir folder;
        Desk desk(folder);
        desk.language.set(language);
        QVERIFY(desk.window->setupPage().startFrom("gated-overflow").ok());
        QTRY_VERIFY(desk.window->setupPage().trial().stepMsOfAllModes().has_value());
        auto* scroll = desk.window->findChild<QScrollArea*>("pageScroll");
        const auto hidden = [scroll] { return QSize(scroll->horizontalScrollBar()->maximum(), scroll->verticalScrollBar()->maximum()); };
        for (const char* page : {"page.live", "page.numerics", "page.runs", "page.setup"}) {
            desk.window->catalog().action(page)->trigger();
            desk.window->resize(1024, 600);
            QTRY_COMPARE(desk.window->size(), QSize(1024, 600));
            QTRY_VERIFY2(hidden() == QSize(0, 0), page);
        }
        // 1366×768 at 200 %: the page scrolls, and the main button comes into view with the focus.
        desk.window->resize(683, 384);
        QTRY_COMPARE(desk.window->size(), QSize(683, 384));
        QTRY_VERIFY(hidden().width() > 0);
        auto *compare = desk.window->findChild<QPushButton*>("compareButton"), *oneMode = desk.window->findChild<QPushButton*>("oneModeButton");
        oneMode->setFocus();
        QTest::keyClick(oneMode, Qt::Key_Tab);
        QCOMPARE(desk.window->focusWidget(), compare);
        QCOMPARE(compare->visibleRegion().boundingRect().size(), compare->size());
    }

    void languageKeepsZoomAndFolds() {
        const QTemporaryDir folder;
        Desk desk(folder);
        fixture::Options ended;
        ended.ended = true;
        ended.steps = ended.planned;
        const fixture::Comparison made = fixture::writeComparison(folder.filePath("runs").toStdString(), ended);
        desk.window->openFolder(made.folder);
        const auto page = [&] { return desk.window->findChild<LivePage*>(); };
        QTRY_COMPARE(page()->range().whole().to, 300.0);
        page()->range().zoomTo({40, 160});
        LiveView view = page()->view();
        view.openFolds = {false, true, false, true, false, false};
        page()->setView(view);
        QTRY_VERIFY(page()->view().openFolds.at(3));
        desk.window->catalog().action("view.language")->trigger();
        QTRY_COMPARE(page()->range().whole().to, 300.0);
        QTRY_COMPARE(page()->range().visible(), (XSpan{40, 160}));
        QCOMPARE(page()->view().openFolds, (std::vector<bool>{false, true, false, true, false, false}));
        desk.window->catalog().action("view.language")->trigger();
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::MainWindowTest)
#include "main_window_test.moc"
