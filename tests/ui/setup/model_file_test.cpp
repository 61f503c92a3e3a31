// What? = a TorchScript file: trusted once by its content, and given up for a model of the catalogue.
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "fake_machine.h"
#include "ui/bridge/theme.h"
#include "ui/setup/setup_page.h"
#include "ui/setup/what_row.h"

namespace mantissa::ui {

class ModelFileTest : public QObject {
    Q_OBJECT

    Theme m_theme;

  private Q_SLOTS:
    void aModelFileIsTrustedOnceByItsContent() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        const QTemporaryDir home;
        qputenv("MANTISSA_RUNS_DIR", home.filePath("runs").toUtf8());
        const QString name = home.filePath("net.pt");
        QFile file(name);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("a model");
        file.close();
        SetupPage page(m_theme, {home.path().toStdString(), MANTISSA_RESOURCES_DIR "/presets", machine.places(), trials.starter()});
        page.show();
        QVERIFY(page.startFrom("digits-cnn").ok());
        auto* row = page.findChild<WhatRow*>("whatRow");
        auto* button = page.findChild<QPushButton*>("modelButton");
        row->takeModelFile(name);
        auto* question = page.findChild<QMessageBox*>("trustQuestion");
        QVERIFY(question != nullptr);
        QVERIFY(question->text().contains("net.pt is a program"));
        question->reject();  // no is no
        QTRY_VERIFY(page.findChild<QMessageBox*>("trustQuestion") == nullptr);
        QVERIFY(button->text().contains("cnn"));
        row->takeModelFile(name);
        question = page.findChild<QMessageBox*>("trustQuestion");
        for (QAbstractButton* one : question->buttons()) {
            if (question->buttonRole(one) == QMessageBox::AcceptRole) one->click();
        }
        QTRY_VERIFY(button->text().contains("net.pt"));
        QCOMPARE(QString::fromStdString(page.editor().plan().model.file), name);
        QTRY_VERIFY(page.findChild<QMessageBox*>("trustQuestion") == nullptr);
        row->takeModelFile(name);  // its content is known
        QVERIFY(page.findChild<QMessageBox*>("trustQuestion") == nullptr);
        // A model of the catalogue takes its place.
        Q_EMIT button->menu()->aboutToShow();
        button->menu()->actions().front()->trigger();
        QCOMPARE(page.editor().plan().model.file, std::string());
        QVERIFY(button->text().contains("mlp"));
        qunsetenv("MANTISSA_RUNS_DIR");
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::ModelFileTest)
#include "model_file_test.moc"
