// The page Lessons: models under the model tester, the prediction's lock, a lesson whose jobs are recordings made up, both languages, the size.
#include "ui/lessons/lessons_page.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "fixture_runs.h"
#include "lessons/player.h"
#include "ui/bridge/theme.h"
#include "ui/charts/run_chart.h"
#include "ui/lessons/bit_inspector.h"

namespace mantissa::ui {

class LessonsPageTest : public QObject {
    Q_OBJECT

    Theme m_theme;

    static std::filesystem::path path(const QTemporaryDir& folder) { return folder.path().toStdString(); }
    static QPushButton* button(LessonsPage& page, const char* name) { return page.findChild<QPushButton*>(QLatin1String(name)); }
    static QString text(LessonsPage& page, const char* name) { return page.findChild<QLabel*>(QLatin1String(name))->text(); }

    /// Answers each job that is asked for with a recording that has ended.
    static void answerJobs(LessonsPage& page, const std::filesystem::path& runs, std::vector<fixture::Comparison>& made) {
        connect(&page.runner(), &LessonRunner::startRequested, &page, [&page, &made, runs](JobKind, const SourcedPlan& plan) {
            fixture::Options options;
            options.ended = true;
            options.modes = plan.plan.modes.empty() ? std::vector{plan.plan.mixed_precision} : plan.plan.modes;
            made.push_back(fixture::writeComparison(runs, options));
            made.back().locks.clear();
            page.runner().jobStarted(made.back().folder);
        });
    }

  private Q_SLOTS:
    void modelsKeepTheRules() {
        LessonWords words;
        words.setLanguage("en");
        LessonListModel lessons(words);
        const QAbstractItemModelTester listTester(&lessons, QAbstractItemModelTester::FailureReportingMode::QtTest);
        lessons.setLessons(*list_lessons());
        lessons.setDone("bits");
        QVERIFY(lessons.rowCount() >= 10);
        QCOMPARE(lessons.index(0).data().toString(), QStringLiteral("1  What half precision can hold  ✓"));
        QVERIFY(lessons.index(0).data(LessonListModel::DoneRole).toBool());
        BitTableModel bits(words);
        const QAbstractItemModelTester bitTester(&bits, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy changes(&bits, &QAbstractItemModel::dataChanged);
        bits.setNumber(2e-8, 65536);
        QCOMPARE(changes.count(), 1);
        QCOMPARE(bits.index(1, BitTableModel::Value).data().toString(), QStringLiteral("0"));
        QVERIFY(bits.index(5, BitTableModel::Value).data().toString().endsWith(QStringLiteral("1.9994332e-08")));
        bits.setNumber(65520, 1);
        QCOMPARE(bits.index(1, BitTableModel::Bits).data().toString(), QStringLiteral("0 11111 0000000000"));
        QCOMPARE(bits.index(1, BitTableModel::Kind).data().toString(), QStringLiteral("Inf"));
    }

    void thePredictionIsLockedFirst() {
        const QTemporaryDir folder;
        LessonsPage page(m_theme, path(folder));
        page.setLanguage("en");
        page.show();
        auto* run = button(page, "lessonRun");
        QVERIFY2(!run->isEnabled(), "no answer is chosen yet");
        QVERIFY2(!page.findChild<BitInspector*>()->isVisible(), "it would give the answer away");
        auto* third = page.findChild<QRadioButton*>("answer3");
        third->click();
        QVERIFY(run->isEnabled());
        QVERIFY(text(page, "lessonOutcome").isEmpty());
        run->click();
        QVERIFY(page.view().isLocked() && !third->isEnabled());
        QVERIFY(text(page, "lessonOutcome").contains(QStringLiteral("Right: Inf")));
        auto* number = page.findChild<QLineEdit*>("bitNumber");
        QVERIFY(number->isVisible());
        number->setText(QStringLiteral("many"));
        QVERIFY(text(page, "bitProblem").contains(QStringLiteral("\"many\" is no number")));
        number->setText(QStringLiteral("2^10"));
        QVERIFY(text(page, "bitProblem").isEmpty());
        QVERIFY(page.model().index(0).data(LessonListModel::DoneRole).toBool());
        run->click();  // again
        // The answers are made anew.
        QVERIFY(!page.view().isLocked() && page.findChild<QRadioButton*>("answer3")->isEnabled());
    }

    void aLessonRunsItsJobsOneByOneAndShowsWhatWasSeen() {
        const QTemporaryDir folder;
        LessonsPage page(m_theme, path(folder));
        std::vector<fixture::Comparison> made;
        answerJobs(page, path(folder), made);
        page.setLanguage("en");
        page.show();
        page.choose(QStringLiteral("nan-hunt"));
        page.findChild<QRadioButton*>("answer2")->click();
        button(page, "lessonRun")->click();
        QVERIFY(page.runner().isRunning());
        QVERIFY2(!page.findChild<QListView*>("lessonList")->isEnabled(), "the lesson that runs stays in sight");
        // Kept before anything ran.
        QCOMPARE(list_lesson_sessions(path(folder)).at(0).prediction, std::string("gate"));
        QTRY_VERIFY_WITH_TIMEOUT(!page.runner().isRunning(), 20000);
        QTRY_VERIFY_WITH_TIMEOUT(text(page, "lessonOutcome").contains(QStringLiteral("Right:")), 20000);
        QVERIFY2(text(page, "lessonOutcome").contains(QStringLiteral("144")), "the fixture's first bad step");
        QCOMPARE(page.findChild<RunChart*>("lessonChart")->runs().size(), std::size_t(3));
        QVERIFY(page.findChild<RunChart*>("lessonChart")->isVisible() && button(page, "lessonSave")->isVisible());
        // The other language, also of what was seen.
        page.setLanguage("zh");
        QVERIFY(text(page, "lessonOutcome").contains(QStringLiteral("正确：")));
        QCOMPARE(button(page, "lessonRun")->text(), QStringLiteral("再来一次"));
        // What was recorded is shown again without training, and plays in a browser.
        page.setLanguage("en");
        button(page, "lessonRun")->click();
        QVERIFY(text(page, "lessonOutcome").isEmpty());
        button(page, "lessonRecorded")->click();
        QTRY_VERIFY_WITH_TIMEOUT(text(page, "lessonOutcome").contains(QStringLiteral("Right:")), 20000);
        QCOMPARE(made.size(), std::size_t(1));
        const auto player = write_player(list_lesson_sessions(path(folder)).at(0).folder, "en");
        QVERIFY2(player.ok(), player.ok() ? "" : describe(player.error()).c_str());
        QFile file(QString::fromStdString(player->string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray html = file.readAll();
        QVERIFY(!html.contains("http") && html.contains("id=\"recording\"") && html.contains("name=\"answer\""));
    }

    void aJobThatCannotStartIsASentence() {
        const QTemporaryDir folder;
        LessonsPage page(m_theme, path(folder));
        page.setLanguage("en");
        page.show();
        connect(&page.runner(), &LessonRunner::startRequested, &page, [&page] { page.runner().jobFailed(QStringLiteral("the disk is full")); });
        page.choose(QStringLiteral("2"));
        page.findChild<QRadioButton*>("answer1")->click();
        button(page, "lessonRun")->click();
        QVERIFY(!page.runner().isRunning());
        QCOMPARE(text(page, "lessonStatus"), QStringLiteral("The lesson could not be run: the disk is full"));
        QVERIFY(button(page, "lessonRun")->isEnabled());
    }

    void fitsAndPresents() {
        const QTemporaryDir folder;
        for (const char* language : {"en", "zh"}) {
            LessonsPage page(m_theme, path(folder));
            page.setLanguage(language);
            page.resize(952, 538);  // what 1024 by 600 leaves to a page
            page.show();
            for (int row = 0; row < page.model().rowCount(); ++row) {
                page.choose(page.model().index(row).data(LessonListModel::IdRole).toString());
                QVERIFY2(page.view().minimumSizeHint().width() <= 720, qPrintable(QStringLiteral("%1 %2").arg(QLatin1String(language)).arg(page.view().minimumSizeHint().width())));
            }
            const int height = page.findChild<QLabel*>("lessonQuestion")->sizeHint().height();
            button(page, "lessonLarge")->click();
            QVERIFY(!page.findChild<QListView*>("lessonList")->isVisible());
            QVERIFY(page.findChild<QLabel*>("lessonQuestion")->sizeHint().height() > height);
        }
    }
};

}  // namespace mantissa::ui


QTEST_MAIN(mantissa::ui::LessonsPageTest)
#include "lessons_page_test.moc"
