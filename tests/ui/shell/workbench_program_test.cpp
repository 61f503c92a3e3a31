// The program itself: without a display it ends with 69 and the headless command; it saves a picture; it
// refuses bad arguments.
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "fixture_runs.h"

namespace mantissa::ui {

class WorkbenchProgramTest : public QObject {
    Q_OBJECT

    struct Ended {
        int code = -1;
        QString out, error;
    };
    static Ended run(const QStringList& arguments, bool display, const QTemporaryDir& home) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
            environment.remove(QLatin1String(name));
        }
        if (display) {
            environment.insert("QT_QPA_PLATFORM", "offscreen");
        }
        environment.insert("XDG_CONFIG_HOME", home.path());
        environment.insert("MANTISSA_RUNS_DIR", home.filePath("runs"));
        environment.insert("MANTISSA_RESOURCES", MANTISSA_RESOURCES_DIR);
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(MANTISSA_WORKBENCH), arguments);
        if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit) {
            return {};
        }
        return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
                QString::fromUtf8(process.readAllStandardError())};
    }

  private Q_SLOTS:
    void withoutADisplayItSaysWhatToRun() {
        const QTemporaryDir home;
        const Ended ended = run({"--compare", "gated-overflow"}, false, home);
        QCOMPARE(ended.code, 69);
        QVERIFY2(ended.error.contains("mantissa compare gated-overflow --modes no,fp16,bf16"),
                 qPrintable(ended.error));
    }

    void helpAndVersionNeedNoDisplay() {
        const QTemporaryDir home;
        const Ended help = run({"--help"}, false, home);
        QCOMPARE(help.code, 0);
        QVERIFY(help.out.contains("--runs-dir"));
        QCOMPARE(run({"--version"}, false, home).code, 0);
    }

    void badArgumentsEndWithTwo() {
        const QTemporaryDir home;
        for (const bool display : {false, true}) {
            const Ended ended = run({"--theme", "blue"}, display, home);
            QCOMPARE(ended.code, 2);
            QVERIFY(ended.error.contains("--theme is \"blue\""));
        }
        const Ended preset = run({"digits-cmm"}, true, home);
        QCOMPARE(preset.code, 2);
        QVERIFY2(preset.error.contains("digits-cnn"), qPrintable(preset.error));
    }

    void savesAPictureOfARecording() {
        const QTemporaryDir home;
        fixture::Options ended;
        ended.ended = true;
        const auto comparison = fixture::writeComparison(home.filePath("runs").toStdString(), ended);
        const QString file = home.filePath("live.png");
        const Ended done = run({"--open", QString::fromStdString(comparison.folder.string()), "--screenshot",
                                file, "--size", "1024x600", "--theme", "dark", "--language", "zh"},
                               true, home);
        QVERIFY2(done.code == 0, qPrintable(done.error));
        const QImage picture(file);
        QCOMPARE(picture.size(), QSize(1024, 600));
        const Ended unwritable = run({"--screenshot", home.filePath("no/such/folder.png")}, true, home);
        QCOMPARE(unwritable.code, 6);
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::WorkbenchProgramTest)
#include "workbench_program_test.moc"
