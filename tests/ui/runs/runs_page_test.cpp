// The list of runs: what is read from folders, the model under the model tester, filter, opening, deleting
// and undoing.
#include "ui/runs/runs_page.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QLabel>
#include <QTest>
#include <QToolButton>

#include "fixture_checkpoints.h"
#include "fixture_runs.h"
#include "record/comparison_record.h"
#include "ui/bridge/theme.h"
#include "ui/runs/runs_filter.h"

namespace mantissa::ui {

class RunsPageTest : public QObject {
    Q_OBJECT

    Theme m_theme;

    static std::vector<RunEntry> entries(int count) {
        std::vector<RunEntry> made;
        for (int i = 0; i < count; ++i) {
            RunEntry entry;
            entry.folder = "/runs/" + std::to_string(i);
            entry.name = "run " + std::to_string(i);
            entry.startedNs = (1000LL - i) * 1'000'000'000;
            RunOfEntry run;
            run.state = RunState::Finished;
            run.finalLoss = 1.0 / (i + 1);
            entry.runs = {run};
            made.push_back(entry);
        }
        return made;
    }

  private Q_SLOTS:
    void modelTellsOnlyWhatChanged() {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        auto list = entries(5);
        model.setEntries(list);
        QCOMPARE(inserted.count(), 1);  // a batch is one insert
        QCOMPARE(model.rowCount(), 5);
        model.setEntries(list);
        QCOMPARE(changed.count(), 0);
        list[2].runs[0].state = RunState::Lost;
        model.setEntries(list);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(changed.last().at(0).toModelIndex().row(), 2);
        QCOMPARE(model.index(2, RunsModel::State).data().toString(), QStringLiteral("lost"));
        list[3].repeating = {2, 3};
        model.setEntries(list);
        QCOMPARE(model.index(3, RunsModel::State).data().toString(), QStringLiteral("repeating 2 of 3"));
        QVERIFY(model.index(3, RunsModel::State).data(RunsModel::FilterRole).toString().contains(QStringLiteral("repeating")));
        list.erase(list.begin() + 1);
        RunEntry newest = list.front();
        newest.folder = "/runs/new";
        list.insert(list.begin(), newest);
        model.setEntries(list);
        QCOMPARE(removed.count(), 1);
        QCOMPARE(inserted.count(), 2);
        QCOMPARE(reset.count(), 0);
        QCOMPARE(model.entries().front().folder, std::filesystem::path("/runs/new"));
        model.setEntries({});
        QCOMPARE(model.rowCount(), 0);
    }

    void notFiniteLossIsShownAndSortedLast() {
        RunsModel model;
        RunsFilter filter(m_theme);
        filter.setSourceModel(&model);
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        auto list = entries(3);
        list[0].name = "gated-overflow";
        list[1].runs[0].finalLoss = std::numeric_limits<double>::quiet_NaN();
        model.setEntries(list);
        QCOMPARE(model.index(1, RunsModel::FinalLoss).data().toString(), QStringLiteral("NaN"));
        filter.sort(RunsModel::FinalLoss, Qt::AscendingOrder);
        QCOMPARE(filter.index(2, RunsModel::FinalLoss).data().toString(), QStringLiteral("NaN"));
        QCOMPARE(filter.index(0, RunsModel::Name).data().toString(), QStringLiteral("run 2"));
        filter.setWords("GATED finished");
        QCOMPARE(filter.rowCount(), 1);
        filter.setWords("lost");
        QCOMPARE(filter.rowCount(), 0);
    }

    void readsRealFoldersAndSaysLost() {
        QTemporaryDir runs;
        const std::filesystem::path root = runs.path().toStdString();
        fixture::Options ended;
        ended.ended = true;
        const auto finished = fixture::writeComparison(root, ended);
        RunScan scan;
        auto read = scan.read(root, "en");
        QVERIFY2(read.ok(), read ? "" : read.error().message.c_str());
        QCOMPARE(read->size(), 1u);
        const RunEntry& entry = read->front();
        QVERIFY(entry.isComparison);
        QCOMPARE(entry.runs.size(), 3u);
        QCOMPARE(entry.runs[1].state, RunState::StoppedNonfinite);
        QVERIFY(entry.runs[0].finalLoss.has_value());
        QVERIFY2(!entry.decisionText.empty(), "a decided comparison says its decision");
        const auto chinese = scan.read(root, "zh");
        QVERIFY(chinese.ok());
        const QString sentence = QString::fromStdString(chinese->front().decisionText);
        QVERIFY2(sentence.contains(QRegularExpression(QStringLiteral("[\\x{4e00}-\\x{9fff}]"))),
                 qPrintable(sentence));

        QTemporaryDir others;
        {
            const auto running = fixture::writeComparison(others.path().toStdString(), {});
            read = scan.read(others.path().toStdString(), "en");
            QCOMPARE(read->size(), 1u);
            QCOMPARE(stateOf(read->front()), RunState::Running);
        }  // its locks are freed: whoever held them is gone
        read = scan.read(others.path().toStdString(), "en");
        QCOMPARE(stateOf(read->front()), RunState::Lost);
    }

    void unreadableFolderIsAnEntryWithItsReason() {
        QTemporaryDir runs;
        const std::filesystem::path root = runs.path().toStdString();
        const auto folder = root / "comparisons" / "broken";
        std::filesystem::create_directories(folder);
        QFile file(QString::fromStdString((folder / "comparison.json").string()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"id\": ");
        file.close();
        RunScan scan;
        const auto read = scan.read(root, "en");
        QVERIFY(read.ok());
        QCOMPARE(read->size(), 1u);
        QVERIFY(!read->front().problem.empty());
    }

    void openDeleteUndo() {
        QTemporaryDir runs;
        const std::filesystem::path root = runs.path().toStdString();
        fixture::Options ended;
        ended.ended = true;
        ended.steps = 30;
        ended.fp16NanAt.reset();
        std::filesystem::path folder;
        {
            const auto made = fixture::writeComparison(root, ended);
            folder = made.folder;
        }
        RunsPage page(m_theme, root);
        page.resize(900, 500);
        page.show();
        QTRY_COMPARE(page.model().rowCount(), 1);
        QSignalSpy opened(&page, &RunsPage::openRequested);
        page.table().setFocus();
        QTest::keyClick(&page.table(), Qt::Key_Return);
        QCOMPARE(opened.count(), 1);

        const RunEntry entry = page.model().entries().front();
        page.removeEntry(entry);
        QVERIFY(!std::filesystem::exists(folder));
        for (const RunOfEntry& run : entry.runs) {
            QVERIFY(!std::filesystem::exists(run.folder));
        }
        QTRY_COMPARE(page.model().rowCount(), 0);
        page.undoRemove();
        QVERIFY(std::filesystem::exists(folder / "comparison.json"));
        QTRY_COMPARE(page.model().rowCount(), 1);
        QVERIFY(page.model().entries().front() == entry);
    }

    void eachRunOffersItsWeightsAndAContinuation() {
        const QTemporaryDir folder;
        fixture::Options ended;
        ended.ended = true;
        const fixture::Comparison made = fixture::writeComparison(folder.path().toStdString(), ended);
        fixture::writeCheckpoint(made.runs.at(1).path);
        RunsPage page(m_theme, folder.path().toStdString());
        page.resize(1100, 600);
        page.show();
        QTRY_COMPARE(page.model().rowCount(), 1);
        QCOMPARE(page.model().entries().front().runs.at(1).checkpoints, 1);
        QCOMPARE(page.model().entries().front().runs.at(1).checkpointStep, std::int64_t{300});
        QCOMPARE(page.model().entries().front().runs.at(0).checkpoints, 0);
        QSignalSpy weights(&page, &RunsPage::saveWeightsRequested), goOn(&page, &RunsPage::continueRequested);
        auto* save = page.findChild<QToolButton*>("saveWeights_fp16");
        QVERIFY(save->isVisible() && save->focusPolicy() == Qt::StrongFocus);
        save->click();
        page.findChild<QToolButton*>("continue_bf16")->click();
        QCOMPARE(weights.first().first().value<std::filesystem::path>(), made.runs.at(1).path);
        QCOMPARE(goOn.first().first().value<std::filesystem::path>(), made.runs.at(2).path);
        const auto* details = page.findChild<QWidget*>("runDetails");
        QStringList texts;
        for (const QLabel* label : details->findChildren<QLabel*>()) {
            texts << label->text();
        }
        QVERIFY2(texts.filter("1 checkpoint").size() == 1 && texts.filter("nothing saved").size() == 2, qPrintable(texts.join('|')));
    }

    /// A run that starts changes its place in the list; what was chosen stays chosen, and is seen to be.
    void choiceOutlivesANewOrder() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const auto older = fixture::writeComparison(root);
        QTest::qWait(1100);  // a folder's name has the second in it
        const auto newer = fixture::writeComparison(root);
        RunsPage page(m_theme, root);
        page.resize(1100, 600);
        page.show();
        QTRY_COMPARE(page.model().rowCount(), 2);
        QCOMPARE(page.model().entries().front().folder, newer.folder);
        QTRY_COMPARE(page.table().selectionModel()->selectedRows().size(), 1);
        auto record = read_comparison(newer.folder);
        QVERIFY(record.ok());
        record->started_ns = 1;
        QVERIFY(write_comparison(newer.folder, *record).ok());
        page.refresh();
        QTRY_COMPARE(page.model().entries().front().folder, older.folder);
        QTRY_COMPARE(page.table().selectionModel()->selectedRows().size(), 1);
        QCOMPARE(page.table().selectionModel()->selectedRows().front().row(), 1);
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::RunsPageTest)
#include "runs_page_test.moc"
