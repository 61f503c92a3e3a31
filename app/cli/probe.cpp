#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "engine_child.h"
#include "output.h"
#include "record/reports.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

void print_device(const DeviceReport& device) {
    print(device.id + ": " + device.name + ", " +
          readable_bytes(static_cast<std::uint64_t>(device.memory_bytes)) +
          (device.capability.empty() ? "" : ", " + device.capability));
    Table table;
    for (const char* title : {"  mode", "support", "forward + backward", "why"}) table.add_column(title);
    for (const ModeSupport& mode : device.modes) {
        std::string tried = mode.tried ? (mode.tried_ok ? "ran" : "failed") : "not tried";
        if (mode.tried_ok && mode.trial_ms) tried += ", " + readable_number(*mode.trial_ms, 3) + " ms";
        table.add_row(
            {std::string("  ") + to_string(mode.mode), to_string(mode.support), tried, mode.reason});
    }
    std::string text = table.text();
    text.pop_back();
    print(text);
}

int probe(bool json) {
    const auto answer = ask_engine([](const EngineApi& engine) -> Result<std::string> {
        auto report = engine.probe();
        if (!report) return report.error();
        return to_json(*report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    });
    if (!answer) return fail(answer.error());
    const auto parsed = nlohmann::json::parse(*answer);
    if (json) {
        print_json(parsed);
        return 0;
    }
    const auto report = probe_report_from_json(parsed);
    if (!report) return fail(report.error());
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
