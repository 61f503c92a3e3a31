#pragma once
// Fakes for Set up's tests: a `mantissa` that is a shell script answering `probe --json`, and trials that
// answer at once.
#include <QFile>
#include <QTemporaryDir>
#include <map>
#include <nlohmann/json.hpp>

#include "record/reports.h"
#include "ui/setup/machine_probe.h"
#include "ui/setup/model_trial.h"

namespace mantissa::ui::fake {

inline ProbeReport cpuReport() {
    DeviceReport cpu;
    cpu.id = "cpu";
    cpu.name = "AMD EPYC, 2 cores";
    cpu.memory_bytes = 8'000'000'000;
    cpu.capability = "AVX2";
    const auto mode = [](Precision precision, Support support, const char* reason) {
        ModeSupport entry;
        entry.mode = precision;
        entry.support = support;
        entry.reason = reason;
        entry.tried = support != Support::Unsupported;
        entry.tried_ok = entry.tried;
        return entry;
    };
    cpu.modes = {
        mode(Precision::No, Support::Native, "fp32 is native"),
        mode(Precision::Fp16, Support::Emulated, "this CPU has no fp16 arithmetic: ATen converts"),
        mode(Precision::Bf16, Support::Emulated, "this CPU has no bf16 arithmetic: ATen converts"),
        mode(Precision::Fp8, Support::Unsupported, "fp8 needs compute capability 8.9, or “allow emulated”")};
    ProbeReport report;
    report.devices = {cpu};
    report.notes = {"no NVIDIA driver"};
    report.torch_version = "2.11.0";
    return report;
}

/// A folder with a program `mantissa` that runs this shell text, and a file that stands for the engine
/// module.
class Machine {
  public:
    explicit Machine(const QString& script, bool hasEngine = true) {
        QFile program(path("mantissa"));
        (void)program.open(QIODevice::WriteOnly);
        program.write(("#!/bin/sh\n" + script + "\n").toUtf8());
        program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        program.close();
        if (hasEngine) {
            makeEngine();
        }
    }
    static QString answering(const ProbeReport& report) {
        return QStringLiteral("cat <<'END'\n%1\nEND").arg(QString::fromStdString(to_json(report).dump()));
    }
    void makeEngine() {
        QFile engine(path("engine.so"));
        (void)engine.open(QIODevice::WriteOnly);
    }
    [[nodiscard]] QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    [[nodiscard]] MachineProbe::Places places() const {
        return {path("mantissa").toStdString(), {path("engine.so").toStdString()}};
    }

  private:
    QTemporaryDir m_folder;
};

inline TrialReport trialReport(Precision mode, double stepMs, std::optional<double> headroom) {
    TrialReport report;
    report.mode = mode;
    report.choice.requested = report.choice.effective = mode;
    report.choice.support = mode == Precision::No ? Support::Native : Support::Emulated;
    report.runs = true;
    report.step_ms = stepMs;
    report.memory_peak_bytes = mode == Precision::No ? 12'400'000 : 10'100'000;
    report.op_kinds = 9;
    report.op_kinds_half = mode == Precision::No ? 0 : 5;
    report.multiply_adds = 1000;
    report.multiply_adds_half = mode == Precision::No ? 0 : 970;
    report.headroom_bits = headroom;
    report.headroom_module = "gate";
    return report;
}

struct Trials {
    std::map<Precision, TrialReport> answers{{Precision::No, trialReport(Precision::No, 5.1, {})},
                                             {Precision::Fp16, trialReport(Precision::Fp16, 7.9, 3.2)},
                                             {Precision::Bf16, trialReport(Precision::Bf16, 6.8, 114.0)}};
    int started = 0;

    TrialStarter starter() {
        return [this](const SourcedPlan&, Precision mode,
                      const std::filesystem::path&) -> Result<std::unique_ptr<TrialTask>> {
            ++started;
            return std::unique_ptr<TrialTask>(std::make_unique<Task>(answers.at(mode)));
        };
    }

  private:
    struct Task : TrialTask {
        explicit Task(TrialReport answer) : report(std::move(answer)) {}
        std::optional<TrialReport> poll() override { return report; }
        TrialReport report;
    };
};

}  // namespace mantissa::ui::fake
