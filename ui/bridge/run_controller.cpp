#include "ui/bridge/run_controller.h"

#include <algorithm>

#include "launch/run_lookup.h"

namespace mantissa::ui {

RunController::RunController(QObject* parent) : QObject(parent) {
    m_retry.setInterval(500);
    connect(&m_retry, &QTimer::timeout, this, &RunController::tryToConnect);
}

RunController::~RunController() = default;

void RunController::follow(const std::filesystem::path& folder) {
    leave();
    m_folder = folder;
    tryToConnect();
    m_retry.start();
}

void RunController::setThreadControl(RunControl* control) {
    m_thread = control;
    Q_EMIT changed();
}

void RunController::leave() {
    m_folder.clear();
    m_thread = nullptr;
    m_retry.stop();
    drop();
}

bool RunController::isAvailable() const { return m_thread || (m_client && m_client->is_controller()); }

QString RunController::reason() const {
    if (isAvailable()) {
        return {};
    }
    if (m_client) {
        return m_holder == 0 ? tr("The run is being asked who controls it…")
                             : tr("Another window (process %1) controls this run; this one watches, and takes over when that one is closed.")
                                   .arg(m_holder);
    }
    return tr("No program works on this run any more, so there is nothing to control.");
}

void RunController::pauseOrResume() { send(isPaused() ? ControlCommand::Resume : ControlCommand::Pause); }

void RunController::stepOnce() { send(ControlCommand::Step); }

void RunController::checkpoint(const std::string& run) { send(ControlCommand::Checkpoint, run); }

void RunController::stop() {
    m_isStopping = m_client && m_client->is_controller();
    send(ControlCommand::Stop);
}

void RunController::abort() {
    if (m_thread) {
        Q_EMIT refused(tr("The run trains in this window, which would end with it: stop it, or close the window."));
    } else if (sendText("abort", {})) {
        Q_EMIT changed();
    }
}

void RunController::watch(int level) {
    send(level <= 0 ? ControlCommand::Watch0 : level == 1 ? ControlCommand::Watch1 : ControlCommand::Watch2);
}

void RunController::send(ControlCommand command, const std::string& run) {
    if (m_thread) {
        m_thread->post(command);
    } else if (!sendText(to_string(command), run)) {
        return;
    }
    if (command == ControlCommand::Pause || command == ControlCommand::Step) {
        m_isPaused = true;
    } else if (command == ControlCommand::Resume) {
        m_isPaused = false;
    }
    Q_EMIT changed();
}

bool RunController::sendText(const std::string& command, const std::string& run) {
    if (!m_client || !m_client->is_controller()) {
        Q_EMIT refused(reason());
        return false;
    }
    if (const auto sent = m_client->send(command, run); !sent) {
        Q_EMIT refused(QString::fromStdString(describe(sent.error())));
        return false;
    }
    return true;
}

void RunController::tryToConnect() {
    if (m_client || m_thread || m_folder.empty() || !has_supervisor(m_folder)) {
        return;
    }
    auto client = ControlClient::connect(m_folder, ControlRole::Control);
    if (!client) {
        return;  // tried again: the supervisor may be starting or ending
    }
    m_client.emplace(std::move(*client));
    m_notifier = std::make_unique<QSocketNotifier>(m_client->descriptor(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &RunController::takeEvents);
    takeEvents();
}

void RunController::takeEvents() {
    while (m_client) {
        const std::optional<ControlEvent> event = m_client->take_event();
        if (!event) {
            break;
        }
        switch (event->kind) {
            case ControlEvent::Kind::Status:
                m_isPaused = std::any_of(event->runs.begin(), event->runs.end(),
                                         [](const RunStatus& run) { return run.state == "paused"; });
                break;
            case ControlEvent::Kind::Controller:
                m_holder = event->is_controller ? 0 : event->holder;
                break;
            case ControlEvent::Kind::Refused: Q_EMIT refused(QString::fromStdString(event->text)); break;
            case ControlEvent::Kind::Done: break;
            case ControlEvent::Kind::Ended:
            case ControlEvent::Kind::Disconnected: drop(); break;
        }
    }
    Q_EMIT changed();
}

void RunController::drop() {
    if (m_notifier) {
        m_notifier->setEnabled(false);
        // We may be inside its signal.
        m_notifier.release()->deleteLater();
    }
    m_client.reset();
    m_holder = 0;
    m_isPaused = m_isStopping = false;
    Q_EMIT changed();
}

}  // namespace mantissa::ui
