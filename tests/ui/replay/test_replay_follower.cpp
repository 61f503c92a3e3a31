// Reports that are rewritten, damaged or gone; a replay as a child process; the bundle.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <memory>

#include "base/files.h"
#include "record/run_folder.h"
#include "tests/ui/fixture_replay.h"
#include "tests/ui/fixture_runs.h"
#include "ui/bridge/replay_follower.h"

namespace mantissa::ui {

namespace fs = std::filesystem;

class ReplayFollowerTest : public QObject {
    Q_OBJECT

    /// A program that stands in for `mantissa`.
    static void useProgram(const QTemporaryDir& folder, const QByteArray& script) {
        const QString file = folder.filePath("mantissa");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("#!/bin/sh\n" + script);
        out.close();
        out.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("MANTISSA_PROGRAM", file.toLocal8Bit());
    }

    static fixture::Comparison ended(const QTemporaryDir& folder) {
        fixture::Options options;
        options.ended = true;
        options.fp16NanAt = fixture::badStep;
        return fixture::writeComparison(folder.filePath("runs").toStdString(), options);
    }

    /// Holds the step as a replay does; lets go as one that is killed.
    struct Worker {
        explicit Worker(const fs::path& run) : lock(::open((incident_folder(run, fixture::badStep) / "replay.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
            isHeld = ::flock(lock, LOCK_EX) == 0;
        }
        ~Worker() { ::close(lock); }
        const int lock;
        bool isHeld = false;
    };

  private Q_SLOTS:
    void cleanup() { qunsetenv("MANTISSA_PROGRAM"); }

    void reportsAreReadAsTheyAreRewritten() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const fs::path run = made.runs[1].path;
        ReplayFollower follower(run, fixture::badStep);
        QTRY_VERIFY(!follower.isReading());
        QVERIFY(!follower.snapshot().incident);
        QCOMPARE(follower.snapshot().run->mode, Precision::Fp16);
        QCOMPARE(follower.snapshot().control, made.runs[0].path);
        QCOMPARE(follower.snapshot().isControlFinite, std::optional<bool>(true));
        fixture::writeIncident(run);
        QTRY_VERIFY(follower.snapshot().incident.has_value());
        QVERIFY(follower.snapshot().incident->birth == fixture::gateBirth());  // the loss is NaN, which equals nothing
        QVERIFY(follower.snapshot().incident->watched == fixture::gateIncident().watched);
        const Worker worker(run);
        for (const std::size_t done : {1, 4, 7}) {
            fixture::writeReplay(run, fixture::gateReplay(run, done));
            QTRY_VERIFY(follower.snapshot().replay && follower.snapshot().replay->variants == fixture::gateReplay(run, done).variants);
        }
    }

    void replayWhoseProcessWasKilledIsStopped() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const fs::path run = made.runs[1].path;
        fixture::writeIncident(run);
        fixture::writeReplay(run, fixture::gateReplay(run, 5));
        auto worker = std::make_unique<Worker>(run);
        QVERIFY(worker->isHeld);
        ReplayFollower follower(run, fixture::badStep);
        QTRY_VERIFY(follower.snapshot().replay.has_value());
        QCOMPARE(follower.snapshot().replay->state, std::string("running"));
        worker.reset();
        QTRY_COMPARE(follower.snapshot().replay->state, std::string("stopped"));  // the file is as it was
        QCOMPARE(follower.snapshot().replay->variants[5].state, std::string("waiting"));
        QCOMPARE(follower.snapshot().replay->best, std::string("island"));  // was tried, and held
        QCOMPARE(read_replay(incident_folder(run, fixture::badStep))->state, std::string("running"));
        worker = std::make_unique<Worker>(run);
        QTRY_COMPARE(follower.snapshot().replay->state, std::string("running"));
    }

    void damagedAndMissingFilesAreSentences() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const fs::path run = made.runs[1].path;
        fixture::writeIncident(run);
        ReplayFollower follower(run, fixture::badStep);
        QTRY_VERIFY(follower.snapshot().incident.has_value());
        std::ofstream(incident_folder(run, fixture::badStep) / "incident.json") << "{\"step\": 65, ";
        QTRY_VERIFY(!follower.snapshot().incidentProblem.empty());
        QVERIFY(!follower.snapshot().incident);
        QVERIFY(follower.snapshot().incidentProblem.find("incident.json") != std::string::npos);
        fs::remove_all(run);
        QTRY_VERIFY2(follower.snapshot().problem.find("no folder") != std::string::npos, follower.snapshot().problem.c_str());
    }

    void keptStatesAreMeasuredAndTheirGoingIsSeen() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const fs::path run = made.runs[1].path, step = incident_folder(run, fixture::badStep);
        fixture::writeIncident(run);
        fs::create_directories(step / "state_65");
        fs::create_directories(step / "state_50");
        fs::create_directories(step / ".state_70.tmp");  // still being written
        std::ofstream(step / "state_50" / "model.safetensors") << std::string(1000, 'x');
        ReplayFollower follower(run, fixture::badStep);
        QTRY_COMPARE(follower.snapshot().states.size(), std::size_t{2});
        QCOMPARE(follower.snapshot().states[0].step, std::int64_t{50});
        QCOMPARE(follower.snapshot().states[0].bytes, std::int64_t{1000});
        QCOMPARE(follower.snapshot().states[1].step, std::int64_t{65});
        fs::remove_all(step / "state_50");
        QTRY_COMPARE(follower.snapshot().states.size(), std::size_t{1});
    }

    void replayIsAChildInASessionOfItsOwn() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const fs::path run = made.runs[1].path;
        const fs::path prepared = folder.filePath("prepared").toStdString();
        fixture::writeReplay(prepared, fixture::gateReplay(run));
        useProgram(folder, "echo \"$@\" > " + QByteArray::fromStdString((prepared / "arguments").string()) + "\nps -o sid= -p $$ > " +
                               QByteArray::fromStdString((prepared / "session").string()) + "\ncp " +
                               QByteArray::fromStdString((incident_folder(prepared, fixture::badStep) / "replay.json").string()) + " \"$2/incidents/step_$4/\"\n");
        ReplayFollower follower(run, fixture::badStep);
        const QSignalSpy endings(&follower, &ReplayFollower::replayEnded);
        follower.start({"--set", "mixed_precision=bf16"});
        QVERIFY(follower.isReplaying());
        follower.start();  // one at a time
        QTRY_COMPARE(endings.count(), 1);
        QVERIFY(!follower.isReplaying());
        QVERIFY2(follower.problem().isEmpty(), qPrintable(follower.problem()));
        QTRY_VERIFY(follower.snapshot().replay.has_value());
        const auto arguments = read_file(prepared / "arguments");
        QCOMPARE(QString::fromStdString(*arguments).trimmed(), QStringLiteral("replay %1 --step 65 --set mixed_precision=bf16").arg(QString::fromStdString(run.string())));
        const auto session = read_file(prepared / "session");
        QVERIFY(QString::fromStdString(*session).trimmed().toLongLong() != ::getsid(0));
    }

    void whatAFailedReplaySaidIsShown() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        useProgram(folder, "echo 'mantissa: the engine isn'\\''t built' >&2\nexit 6\n");
        ReplayFollower follower(made.runs[1].path, fixture::badStep);
        follower.start();
        QTRY_VERIFY(!follower.isReplaying());
        QCOMPARE(follower.problem(), QStringLiteral("mantissa: the engine isn't built"));
        qputenv("MANTISSA_PROGRAM", "/nowhere/mantissa");
        follower.start();
        QVERIFY(!follower.isReplaying());
        QVERIFY2(follower.problem().contains("/nowhere/mantissa"), qPrintable(follower.problem()));
    }

    void cancelIsAnInterrupt() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const QByteArray told = folder.filePath("told").toLocal8Bit();
        useProgram(folder, "trap 'echo interrupted > " + told + "; exit 130' INT\ntouch " + told + ".ready\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1; done\n");
        ReplayFollower follower(made.runs[1].path, fixture::badStep);
        follower.start();
        QTRY_VERIFY(QFile::exists(told + ".ready"));
        follower.cancel();
        QVERIFY(follower.isCancelling());
        QTRY_VERIFY(!follower.isReplaying());
        QVERIFY(QFile::exists(told));
        QVERIFY(follower.problem().isEmpty());
    }
};

}  // namespace mantissa::ui

QTEST_GUILESS_MAIN(mantissa::ui::ReplayFollowerTest)
#include "test_replay_follower.moc"
