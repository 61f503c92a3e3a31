#pragma once
// What this machine can do, asked of a `mantissa probe --json` child process, so that neither a slow nor a
// broken LibTorch touches the window. Without an engine (still building) it says so, and asks again when the
// engine appears or changes.
#include <QObject>
#include <QProcess>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "record/reports.h"

namespace mantissa::ui {

class MachineProbe : public QObject {
    Q_OBJECT
  public:
    enum class State { Asking, Known, Failed, NoEngine };
    /// Where the parts are looked for; tests give their own.
    struct Places {
        std::filesystem::path program;               // `mantissa`
        std::vector<std::filesystem::path> engines;  // candidates of the engine module
        [[nodiscard]] static Places ofThisProgram();
    };

    explicit MachineProbe(Places places, QObject* parent = nullptr);
    ~MachineProbe() override;
    void ask();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] const ProbeReport& report() const { return m_report; }
    [[nodiscard]] QString problem() const { return m_problem; }
    /// The device that `device` of a plan stands for ("auto": the first GPU, else the CPU); null when not
    /// known.
    [[nodiscard]] const DeviceReport* device(const std::string& id) const;
    [[nodiscard]] static const ModeSupport* supportOf(const DeviceReport& device, Precision mode);

  Q_SIGNALS:
    void changed();

  private:
    void finished(int exitCode, QProcess::ExitStatus status);
    void become(State state, const QString& problem = {});
    [[nodiscard]] std::optional<std::filesystem::file_time_type> engineStamp() const;

    const Places m_places;
    QProcess m_process;
    QTimer m_retry, m_limit;
    State m_state = State::Asking;
    ProbeReport m_report;
    QString m_problem;
    std::optional<std::filesystem::file_time_type> m_askedStamp;
};

}  // namespace mantissa::ui
