#pragma once
// Small answers that the window needs at its start: the recorded sample, whether a folder can be shown, the
// settings that this machine's environment brings along, one line about the device.
#include <QString>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"
#include "ui/bridge/theme.h"

namespace mantissa::ui {

class MachineProbe;

/// The recorded comparison that comes with the program, if it does.
[[nodiscard]] std::optional<std::filesystem::path> sampleFolder();
/// The preset that it was recorded with; empty without a sample.
[[nodiscard]] QString samplePreset();
/// A comparison folder or a run folder, else what is wrong with it.
Result<void> checkFolder(const std::filesystem::path& folder);
struct MachineSources {
    std::vector<PlanLayer> layers;
    QString problem;  // the first bad value, with its source
};
/// Accelerate's environment and configuration file. A source with a bad value is left out: the window opens
/// and says so.
[[nodiscard]] MachineSources planSourcesOfMachine();

struct MachineLine {
    QString device, details;
};
/// "CPU · AMD EPYC, 2 cores · fp16, bf16 emulated"
[[nodiscard]] MachineLine machineLine(const MachineProbe& probe, const RunPlan& plan);

[[nodiscard]] Theme::Choice themeChoice(const QString& name);

}  // namespace mantissa::ui
