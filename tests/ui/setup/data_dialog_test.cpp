// What? = a data file: looked into beside the window's thread, its columns chosen, used in one step that undo takes back.
#include "ui/setup/data_dialog.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "fake_machine.h"
#include "ui/bridge/theme.h"
#include "ui/setup/plan_editor.h"
#include "ui/setup/setup_page.h"
#include "ui/setup/what_row.h"

namespace mantissa::ui {

class DataDialogTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    QTemporaryDir m_folder;

    std::string written(const char* name, const QByteArray& content) const {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) {
            return {};
        }
        return file.fileName().toStdString();
    }
    std::string table() const {
        QByteArray text = "id,长度,width,species\n";
        for (int i = 0; i < 40; ++i) {
            text += QByteArray::number(i) + "," + QByteArray::number(i * 2000.0) + "," + QByteArray::number(i % 5) + (i % 4 == 0 ? ",rose\n" : ",tulip\n");
        }
        return written("flowers.csv", text);
    }
    static DatasetPlan of(const std::string& file) {
        DatasetPlan plan;
        plan.file = file;
        return plan;
    }
    static QString text(const QObject& parent, const char* name) { return parent.findChild<QLabel*>(QLatin1String(name))->text(); }
    static QString cell(const QAbstractItemModel& model, int row, int column) { return model.index(row, column).data().toString(); }

  private Q_SLOTS:
    void columnsAreShownAndChosen() {
        DataDialog dialog(of(table()));
        dialog.show();
        auto* use = dialog.findChild<QPushButton*>("dataUse");
        QVERIFY2(!use->isEnabled(), "nothing is known yet");
        QTRY_VERIFY(use->isEnabled());
        QCOMPARE(text(dialog, "dataSummary"), QStringLiteral("CSV · 40 samples, 3 features · labels species, 2 classes"));
        QCOMPARE(text(dialog, "dataClasses"), QStringLiteral("rose: 10 · tulip: 30"));
        QAbstractItemModel* model = dialog.findChild<QTableView*>("dataColumns")->model();
        const QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model->rowCount(), 4);
        QCOMPARE(cell(*model, 1, DataColumnsModel::Name), QStringLiteral("长度"));
        QCOMPARE(cell(*model, 1, DataColumnsModel::Largest), QStringLiteral("78,000"));
        QCOMPARE(cell(*model, 1, DataColumnsModel::Infinite), QStringLiteral("7 (17.5 %)"));
        QCOMPARE(cell(*model, 3, DataColumnsModel::Name), QStringLiteral("all values"));
        // A number of a row is no feature.
        QVERIFY(model->setData(model->index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
        QTRY_VERIFY(use->isEnabled() && model->rowCount() == 4 && cell(*model, 2, 0) == QStringLiteral("id"));
        QCOMPARE(model->index(2, 0).data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
        QCOMPARE(cell(*model, 2, DataColumnsModel::Largest), QStringLiteral("–"));
        QCOMPARE(dialog.chosen().leave_out, std::vector<std::string>{"id"});
        QCOMPARE(text(dialog, "dataSummary"), QStringLiteral("CSV · 40 samples, 2 features · labels species, 2 classes"));
        QVERIFY(model->setData(model->index(2, 0), Qt::Checked, Qt::CheckStateRole));
        QTRY_COMPARE(model->rowCount() == 4 && cell(*model, 0, 0) == QStringLiteral("id"), true);
    }

    void aChoiceThatDoesNotFitIsASentenceAndCanBeTakenBack() {
        DataDialog dialog(of(table()));
        dialog.show();
        auto* use = dialog.findChild<QPushButton*>("dataUse");
        QTRY_VERIFY(use->isEnabled());
        auto* target = dialog.findChild<QComboBox*>("dataTarget");
        target->setCurrentIndex(2);
        Q_EMIT target->activated(2);
        auto* problem = dialog.findChild<QLabel*>("dataProblem");
        QTRY_VERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains(QStringLiteral("the label column species holds texts")), qPrintable(problem->text()));
        QVERIFY(!use->isEnabled());
        target->setCurrentIndex(0);
        Q_EMIT target->activated(0);
        QTRY_VERIFY(use->isEnabled() && !problem->isVisible());
        // Another column as the label: width, of five whole numbers.
        auto* labels = dialog.findChild<QComboBox*>("dataLabels");
        const int width = labels->findText(QStringLiteral("width"));
        QVERIFY(width > 0);
        labels->setCurrentIndex(width);
        Q_EMIT labels->activated(width);
        QTRY_VERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains(QStringLiteral("(species): 'rose' is no number")), qPrintable(problem->text()));
    }

    void aFileThatIsNoneIsASentence() {
        DataDialog dialog(of(written("noise.bin", QByteArray("\x01\x02\x00\x03", 4))));
        dialog.show();
        auto* problem = dialog.findChild<QLabel*>("dataProblem");
        QTRY_VERIFY(problem->isVisible());
        QVERIFY(problem->text().contains(QStringLiteral("none of the kinds of data files")));
        QVERIFY(!dialog.findChild<QPushButton*>("dataUse")->isEnabled());
    }

    void imagesAreSeenAsTheyAre() {
        const QByteArray header("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16);
        written("two-labels", QByteArray("\0\0\x08\x01\0\0\0\x02\0\x01", 10));
        DataDialog dialog(of(written("two-images", header + QByteArray("\0\xFF\x80\0\xFF\xFF\0\0", 8))));
        dialog.show();
        QTRY_VERIFY(dialog.findChild<SampleStrip*>("sampleStrip")->isVisible());
        const QImage first = SampleStrip::picture(*dialog.look(), 0);
        QCOMPARE(first.size(), QSize(2, 2));
        QCOMPARE(qGray(first.pixel(0, 0)), 0);
        QCOMPARE(qGray(first.pixel(1, 0)), 255);
        QCOMPARE(qGray(first.pixel(0, 1)), 128);
    }

    void theNewestWishWins() {
        DataReader reader;
        QSignalSpy ready(&reader, &DataReader::ready);
        reader.read(of(table()));
        DatasetPlan second = of(table());
        second.leave_out = {"id"};
        reader.read(second);
        QTRY_COMPARE(ready.count(), 1);
        QTest::qWait(50);
        QCOMPARE(ready.count(), 1);
        QCOMPARE(ready.front().front().value<std::shared_ptr<const DataLook>>()->plan.leave_out.size(), std::size_t(1));
    }

    void usedDataIsOneStepAndItsSamplesAreCounted() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, {m_folder.path().toStdString(), MANTISSA_RESOURCES_DIR "/presets", machine.places(), trials.starter()});
        page.show();
        QVERIFY(page.startFrom("digits-mlp").ok());
        auto* button = page.findChild<QPushButton*>("dataButton");
        page.takeDataFile(QString::fromStdString(table()));
        auto* dialog = page.findChild<DataDialog*>("dataDialog");
        QVERIFY(dialog != nullptr);
        auto* use = dialog->findChild<QPushButton*>("dataUse");
        QTRY_VERIFY(use->isEnabled());
        use->click();
        QTRY_VERIFY(button->text().contains(QStringLiteral("flowers.csv")));
        QTRY_VERIFY(page.findChild<WhatRow*>("whatRow")->findChild<QLabel*>("answer")->text().contains(QStringLiteral("32 training and 8 validation samples")));
        QCOMPARE(page.editor().fileSamples(), std::int64_t(40));
        QCOMPARE(page.editor().undoStack().undoText(), QStringLiteral("Data"));
        page.editor().undoStack().undo();
        QVERIFY(page.editor().plan().dataset.file.empty());
        QVERIFY(button->text().contains(QStringLiteral("digits")));
        page.editor().undoStack().redo();
        QCOMPARE(page.editor().fileSamples(), std::int64_t(40));
        // Data of the catalogue takes its place, with nothing left of the file.
        Q_EMIT button->menu()->aboutToShow();
        button->menu()->actions().front()->trigger();
        QCOMPARE(page.editor().plan().dataset, DatasetPlan{});
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::DataDialogTest)
#include "data_dialog_test.moc"
