#include "ui/shell/startup.h"

#include <QCoreApplication>

#include "base/paths.h"
#include "record/comparison_record.h"
#include "ui/setup/machine_probe.h"

namespace mantissa::ui {
namespace {

namespace fs = std::filesystem;

QString words(const char* text) {
    return QCoreApplication::translate("MachineLine", text);
}

}  // namespace

std::optional<fs::path> sampleFolder() {
    std::error_code failure;
    for (const auto& entry :
         fs::directory_iterator(resources_folder() / "samples" / "comparisons", failure)) {
        if (fs::exists(entry.path() / "comparison.json", failure)) {
            return entry.path();
        }
    }
    return {};
}

QString samplePreset() {
    const auto folder = sampleFolder();
    const auto record = folder ? read_comparison(*folder) : Result<ComparisonRecord>(ComparisonRecord());
    return record ? QString::fromStdString(record->name) : QString();
}

Result<void> checkFolder(const fs::path& folder) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) {
        return Error{ErrorCode::InputOutput, folder.string() + " is not a folder",
                     "name a run or comparison folder"};
    }
    if (!fs::exists(folder / "comparison.json", failure) && !fs::exists(folder / "plan.json", failure)) {
        return Error{ErrorCode::InputOutput, folder.string() + " holds neither comparison.json nor plan.json",
                     "name a run or comparison folder"};
    }
    return {};
}

MachineSources planSourcesOfMachine() {
    MachineSources sources;
    const EnvironmentLookup environment = process_environment();
    for (auto layer : {accelerate_config_layer({}, environment), process_environment_layer()}) {
        if (layer) {
            sources.layers.push_back(std::move(*layer));
        } else if (sources.problem.isEmpty()) {
            sources.problem = QString::fromStdString(describe(layer.error()));
        }
    }
    return sources;
}

MachineLine machineLine(const MachineProbe& probe, const RunPlan& plan) {
    const DeviceReport* device = probe.device(plan.device);
    if (device == nullptr) {
        return {};
    }
    MachineLine line;
    line.device = device->id == "cpu" ? QStringLiteral("CPU") : QString::fromStdString(device->id);
    if (!device->name.empty()) {
        line.device += QStringLiteral(" · ") + QString::fromStdString(device->name);
    }
    QStringList emulated, details;
    for (const ModeSupport& mode : device->modes) {
        if (mode.support == Support::Emulated) {
            emulated << QLatin1String(to_string(mode.mode));
        }
        details << QStringLiteral("%1: %2").arg(QLatin1String(to_string(mode.mode)),
                                                QString::fromStdString(mode.reason));
    }
    if (!emulated.isEmpty()) {
        line.device +=
            QStringLiteral(" · ") +
            words(QT_TRANSLATE_NOOP("MachineLine", "%1 emulated")).arg(emulated.join(QStringLiteral(", ")));
    }
    line.details = details.join(QLatin1Char('\n'));
    return line;
}

Theme::Choice themeChoice(const QString& name) {
    if (name == QLatin1String("light")) {
        return Theme::Choice::Light;
    }
    return name == QLatin1String("dark") ? Theme::Choice::Dark : Theme::Choice::System;
}

}  // namespace mantissa::ui
