// Control of a run from the window: of the run's own thread, and over the supervisor's socket (the real server, no supervisor).
#include <unistd.h>

#include <QSignalSpy>
#include <QtTest>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "launch/control_server.h"
#include "launch/run_files.h"
#include "support/temporary_folder.h"
#include "ui/bridge/run_controller.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

constexpr int patience = 5000;

/// A supervisor's lock and socket in a job folder; commands are kept, and decide the state that is reported.
class FakeSupervisor {
  public:
    explicit FakeSupervisor(const std::filesystem::path& folder) : m_lock(launch_files::lock_job(folder).value()) {
        auto server = ControlServer::open(
            [this](const std::string& command, const std::string&) -> Result<std::string> {
                const std::lock_guard lock(m_mutex);
                m_commands.push_back(command);
                m_state = command == "pause" ? "paused" : "running";
                if (command == "step") {
                    return Error{ErrorCode::Usage, "no run can make a step", ""};
                }
                return command + " done";
            },
            [this](std::string& phase) {
                phase = "running";
                const std::lock_guard lock(m_mutex);
                return std::vector<RunStatus>{{"no", "", m_state, "", 1, true}};
            });
        m_server.emplace(std::move(*server));
        (void)write_file_atomically(folder / "control", m_server->path().string() + "\n");
        m_thread = std::jthread([this](std::stop_token stop) { serve(stop); });
    }
    ~FakeSupervisor() {
        m_thread.request_stop();
        m_thread.join();
        m_server.reset();
        ::close(m_lock);
    }
    [[nodiscard]] std::vector<std::string> commands() const {
        const std::lock_guard lock(m_mutex);
        return m_commands;
    }

  private:
    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::vector<pollfd> events;
            m_server->add_to(events);
            ::poll(events.data(), events.size(), 20);
            m_server->serve();
            m_server->publish_status();
        }
    }

    int m_lock;
    mutable std::mutex m_mutex;  // protects m_commands, m_state
    std::vector<std::string> m_commands;
    std::string m_state = "running";
    std::optional<ControlServer> m_server;
    std::jthread m_thread;
};

}  // namespace

class TestRunController : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void threadIsControlledDirectly();
    void supervisorIsFoundAndObeys();
    void refusalIsASentence();
    void secondWindowWatches();
    void endOfTheSupervisor();
    void nobodyThere();
};

void TestRunController::threadIsControlledDirectly() {
    RunControl control;
    RunController controller;
    QVERIFY(!controller.isAvailable());
    controller.setThreadControl(&control);
    QVERIFY(controller.isAvailable());
    controller.pauseOrResume();
    QVERIFY(control.is_paused() && controller.isPaused());
    controller.pauseOrResume();
    QVERIFY(!control.is_paused() && !controller.isPaused());
    control.pause_here();  // the run itself, after a non-finite value
    QVERIFY(controller.isPaused());
    controller.stop();
    QVERIFY(control.is_ending());
}

void TestRunController::supervisorIsFoundAndObeys() {
    testing::TemporaryFolder folder;
    RunController controller;
    controller.follow(folder.path());  // before it is there
    QVERIFY(!controller.isAvailable());
    const FakeSupervisor supervisor(folder.path());
    QTRY_VERIFY_WITH_TIMEOUT(controller.isAvailable(), patience);
    controller.pauseOrResume();
    QTRY_COMPARE_WITH_TIMEOUT(supervisor.commands(), std::vector<std::string>{"pause"}, patience);
    QTest::qWait(100);
    QVERIFY(controller.isPaused());  // as the status says
    controller.pauseOrResume();
    QTRY_COMPARE_WITH_TIMEOUT(supervisor.commands().back(), std::string("resume"), patience);
    controller.stop();
    QTRY_COMPARE_WITH_TIMEOUT(supervisor.commands().back(), std::string("stop"), patience);
}

void TestRunController::refusalIsASentence() {
    testing::TemporaryFolder folder;
    const FakeSupervisor supervisor(folder.path());
    RunController controller;
    QSignalSpy refused(&controller, &RunController::refused);
    controller.follow(folder.path());
    QTRY_VERIFY_WITH_TIMEOUT(controller.isAvailable(), patience);
    controller.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(refused.count(), 1, patience);
    QVERIFY(refused[0][0].toString().contains(QStringLiteral("no run can make a step")));
}

void TestRunController::secondWindowWatches() {
    testing::TemporaryFolder folder;
    const FakeSupervisor supervisor(folder.path());
    RunController first, second;
    first.follow(folder.path());
    QTRY_VERIFY_WITH_TIMEOUT(first.isAvailable(), patience);
    second.follow(folder.path());
    QTest::qWait(200);
    QVERIFY(!second.isAvailable());
    QVERIFY(second.isWatching() && !first.isWatching());
    QVERIFY2(second.reason().contains(QString::number(::getpid())), qPrintable(second.reason()));
    QSignalSpy refused(&second, &RunController::refused);
    second.stop();  // by its shortcut, say
    QCOMPARE(refused.count(), 1);
    QVERIFY(!second.isStopping());
    QVERIFY(supervisor.commands().empty());
    first.leave();
    QTRY_VERIFY_WITH_TIMEOUT(second.isAvailable(), patience);
    QVERIFY(second.reason().isEmpty() && !second.isWatching());
    second.stop();
    QVERIFY(second.isStopping());  // what is asked for next is the end at once
    second.abort();
    QTRY_COMPARE_WITH_TIMEOUT(supervisor.commands(), (std::vector<std::string>{"stop", "abort"}), patience);
}

void TestRunController::endOfTheSupervisor() {
    testing::TemporaryFolder folder;
    RunController controller;
    {
        const FakeSupervisor supervisor(folder.path());
        controller.follow(folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(controller.isAvailable(), patience);
    }
    QTRY_VERIFY_WITH_TIMEOUT(!controller.isAvailable(), patience);
    const FakeSupervisor again(folder.path());  // an extended comparison has a new one
    QTRY_VERIFY_WITH_TIMEOUT(controller.isAvailable(), patience);
}

void TestRunController::nobodyThere() {
    testing::TemporaryFolder folder;
    RunController controller;
    controller.follow(folder.path());
    QSignalSpy refused(&controller, &RunController::refused);
    controller.stop();
    QCOMPARE(refused.count(), 1);
    QVERIFY(!controller.reason().isEmpty());
}

QTEST_MAIN(TestRunController)
#include "test_run_controller.moc"
