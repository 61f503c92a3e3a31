#include "ui/setup/machine_probe.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "launch/engine_module.h"
#include "launch/supervisor.h"

namespace mantissa::ui {

using namespace std::chrono_literals;

MachineProbe::Places MachineProbe::Places::ofThisProgram() {
    return {mantissa_program(), engine_candidates()};
}

MachineProbe::MachineProbe(Places places, QObject* parent) : QObject(parent), m_places(std::move(places)) {
    connect(&m_process, &QProcess::finished, this, &MachineProbe::finished);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            m_limit.stop();
            become(State::Failed,
                   tr("%1 cannot be started: %2")
                       .arg(QString::fromStdString(m_places.program.string()), m_process.errorString()));
        }
    });
    m_limit.setSingleShot(true);
    m_limit.setInterval(60s);
    connect(&m_limit, &QTimer::timeout, &m_process, &QProcess::kill);
    m_retry.setInterval(2s);
    connect(&m_retry, &QTimer::timeout, this, [this] {
        if (engineStamp() != m_askedStamp) {
            ask();
        }
    });
}

MachineProbe::~MachineProbe() {
    m_process.disconnect(this);
    m_process.kill();
    m_process.waitForFinished(1000);
}

std::optional<std::filesystem::file_time_type> MachineProbe::engineStamp() const {
    std::error_code failure;
    if (!std::filesystem::exists(m_places.program, failure)) {
        return {};
    }
    for (const auto& engine : m_places.engines) {
        const auto stamp = std::filesystem::last_write_time(engine, failure);
        if (!failure) {
            return stamp;
        }
    }
    return {};
}

void MachineProbe::ask() {
    if (m_process.state() != QProcess::NotRunning) {
        return;
    }
    m_askedStamp = engineStamp();
    if (!m_askedStamp) {
        m_retry.start();
        become(State::NoEngine);
        return;
    }
    become(State::Asking);
    m_limit.start();
    m_process.start(QString::fromStdString(m_places.program.string()),
                    {QStringLiteral("probe"), QStringLiteral("--json")}, QIODevice::ReadOnly);
}

void MachineProbe::finished(int exitCode, QProcess::ExitStatus status) {
    m_limit.stop();
    const QByteArray out = m_process.readAllStandardOutput();
    const auto json = nlohmann::json::parse(out.begin(), out.end(), nullptr, false);
    if (status == QProcess::NormalExit && exitCode == 0 && !json.is_discarded()) {
        if (auto report = probe_report_from_json(json)) {
            m_report = std::move(*report);
            m_retry.stop();
            become(State::Known);
            return;
        }
    }
    const QList<QByteArray> lines = m_process.readAllStandardError().trimmed().split('\n');
    const QString words = QString::fromUtf8(lines.isEmpty() ? QByteArray() : lines.last());
    m_retry.start();
    become(State::Failed,
           words.isEmpty() ? tr("the probe ended with code %1 and said nothing").arg(exitCode) : words);
}

void MachineProbe::become(State state, const QString& problem) {
    m_state = state;
    m_problem = problem;
    if (state == State::Failed) {
        m_retry.start();
    }
    Q_EMIT changed();
}

const DeviceReport* MachineProbe::device(const std::string& id) const {
    if (m_state != State::Known || m_report.devices.empty()) {
        return nullptr;
    }
    const std::string wanted = id == "cuda" ? "cuda:0" : id;
    const DeviceReport* cpu = nullptr;
    for (const DeviceReport& device : m_report.devices) {
        if (device.id == wanted || (wanted == "auto" && device.id == "cuda:0")) {
            return &device;
        }
        if (device.id == "cpu") {
            cpu = &device;
        }
    }
    return wanted == "auto" ? cpu : nullptr;
}

const ModeSupport* MachineProbe::supportOf(const DeviceReport& device, Precision mode) {
    for (const ModeSupport& support : device.modes) {
        if (support.mode == mode) {
            return &support;
        }
    }
    return nullptr;
}

}  // namespace mantissa::ui
