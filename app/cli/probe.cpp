#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "machine.h"
#include "output.h"
#include "record/reports.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

std::string spelled(const DeviceFigure& figure) {
    std::string name = figure.name, value = figure.text;
    std::replace(name.begin(), name.end(), '_', ' ');
    if (figure.value && figure.unit == "bytes") {
        value = readable_bytes(static_cast<std::uint64_t>(*figure.value));
    } else if (figure.value) {
        value = readable_number(*figure.value, 4) + " " + figure.unit;
    }
    return name + " " + (value.empty() ? "n/a" : value);
}

void print_device(const DeviceReport& device) {
    print(device.id + ": " + device.name + ", " +
          readable_bytes(static_cast<std::uint64_t>(device.memory_bytes)) +
          (device.capability.empty() ? "" : ", " + device.capability));
    if (!device.figures.empty()) {
        std::string figures = " ";
        for (const DeviceFigure& figure : device.figures) figures += (figures.size() > 1 ? ", " : " ") + spelled(figure);
        print(figures);
    }
    Table table;
    for (const char* title : {"  mode", "support", "forward + backward", "why"}) table.add_column(title);
    for (const ModeSupport& mode : device.modes) {
        std::string tried = mode.tried ? (mode.tried_ok ? "ran" : "failed") : "not tried";
        if (mode.tried_ok && mode.trial_ms) tried += ", " + readable_number(*mode.trial_ms, 3) + " ms";
        table.add_row(
            {std::string("  ") + to_string(mode.mode), to_string(mode.support), tried, mode.reason});
    }
    print_table(table);
}

int probe(bool json) {
    const auto report = probe_machine();
    if (!report) return fail(report.error());
    if (json) {
        print_json(to_json(*report));
        return 0;
    }
    for (const DeviceReport& device : report->devices) print_device(device);
    for (const std::string& note : report->notes) print("note: " + note);
    print("LibTorch " + report->torch_version);
    return 0;
}

}  // namespace

void add_probe(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "probe",
        "What each device of this machine can do in each mode, tried with a real forward and backward");
    auto json = std::make_shared<bool>(false);
    verb->add_flag("--json", *json, "as one JSON object");
    verb->callback([json, &result] { result = probe(*json); });
}

}  // namespace mantissa::cli
