#include "record/reports.h"

#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "record/json_fields.h"

namespace mantissa {
namespace {

using record_json::Fields;

nlohmann::json support_to_json(const ModeSupport& mode) {
    return {{"mode", to_string(mode.mode)}, {"support", to_string(mode.support)},
            {"reason", mode.reason},        {"tried", mode.tried},
            {"tried_ok", mode.tried_ok},    {"trial_ms", number_to_json(mode.trial_ms)}};
}

ModeSupport support_from(Fields& fields) {
    ModeSupport mode;
    fields.read("mode", mode.mode);
    fields.read("support", mode.support);
    fields.read("reason", mode.reason);
    fields.read("tried", mode.tried);
    fields.read("tried_ok", mode.tried_ok);
    fields.read("trial_ms", mode.trial_ms);
    return mode;
}

nlohmann::json figure_to_json(const DeviceFigure& figure) {
    nlohmann::json value = figure.text.empty() ? number_to_json(figure.value) : nlohmann::json(figure.text);
    return {{"name", figure.name}, {"value", std::move(value)}, {"unit", figure.unit}};
}

DeviceFigure figure_from(Fields& fields) {
    DeviceFigure figure;
    fields.read("name", figure.name);
    fields.read("unit", figure.unit);
    if (const nlohmann::json* value = fields.find("value"); value != nullptr && value->is_string() && figure.unit.empty())
        fields.read("value", figure.text);
    else
        fields.read("value", figure.value);
    return figure;
}

DeviceReport device_from(Fields& fields) {
    DeviceReport device;
    fields.read("id", device.id);
    fields.read("name", device.name);
    fields.read("memory_bytes", device.memory_bytes);
    fields.read("capability", device.capability);
    fields.read_objects("modes", [&](Fields& mode) { device.modes.push_back(support_from(mode)); });
    fields.read_objects("figures", [&](Fields& figure) { device.figures.push_back(figure_from(figure)); });
    return device;
}

nlohmann::json op_time_to_json(const std::optional<OpTime>& time) {
    if (!time) return nullptr;
    return {{"products_ms", number_to_json(time->products_ms)}, {"step_ms", number_to_json(time->step_ms)}};
}

}  // namespace

nlohmann::json to_json(const ProbeReport& report) {
    auto devices = nlohmann::json::array();
    for (const DeviceReport& device : report.devices) {
        auto modes = nlohmann::json::array();
        for (const ModeSupport& mode : device.modes) modes.push_back(support_to_json(mode));
        devices.push_back({{"id", device.id},
                           {"name", device.name},
                           {"memory_bytes", device.memory_bytes},
                           {"capability", device.capability},
                           {"modes", std::move(modes)}});
        if (device.figures.empty()) continue;
        auto figures = nlohmann::json::array();
        for (const DeviceFigure& figure : device.figures) figures.push_back(figure_to_json(figure));
        devices.back()["figures"] = std::move(figures);
    }
    return {
        {"devices", std::move(devices)}, {"notes", report.notes}, {"torch_version", report.torch_version}};
}

Result<ProbeReport> probe_report_from_json(const nlohmann::json& json) {
    ProbeReport report;
    Fields fields(json, "the probe's answer");
    fields.read_objects("devices", [&](Fields& device) { report.devices.push_back(device_from(device)); });
    fields.read("notes", report.notes);
    fields.read("torch_version", report.torch_version);
    if (auto result = fields.result(); !result) return result.error();
    return report;
}

nlohmann::json to_json(const TrialReport& report) {
    return {
        {"mode", to_string(report.mode)},
        {"requested", to_string(report.choice.requested)},
        {"effective", to_string(report.choice.effective)},
        {"support", to_string(report.choice.support)},
        {"support_reason", report.choice.reason},
        {"runs", report.runs},
        {"refusal", report.refusal},
        {"refused_op", report.refused_op},
        {"refused_module", report.refused_module},
        {"step_ms", number_to_json(report.step_ms)},
        {"op_time", op_time_to_json(report.op_time)},
        {"memory_peak_bytes", report.memory_peak_bytes},
        {"op_kinds", report.op_kinds},
        {"op_kinds_half", report.op_kinds_half},
        {"multiply_adds", report.multiply_adds},
        {"multiply_adds_half", report.multiply_adds_half},
        {"headroom_bits", number_to_json(report.headroom_bits)},
        {"headroom_module", report.headroom_module},
        {"loss_finite", report.loss_finite},
        {"outputs_finite", report.outputs_finite},
        {"notes", report.notes},
    };
}

namespace record_json {

TrialReport trial_from(Fields& fields) {
    TrialReport report;
    fields.read("mode", report.mode);
    fields.read("requested", report.choice.requested);
    fields.read("effective", report.choice.effective);
    fields.read("support", report.choice.support);
    fields.read("support_reason", report.choice.reason);
    fields.read("runs", report.runs);
    fields.read("refusal", report.refusal);
    fields.read("refused_op", report.refused_op);
    fields.read("refused_module", report.refused_module);
    fields.read("step_ms", report.step_ms);
    fields.read_object("op_time", [&](Fields& time) {
        report.op_time.emplace();
        time.read("products_ms", report.op_time->products_ms);
        time.read("step_ms", report.op_time->step_ms);
    });
    fields.read("memory_peak_bytes", report.memory_peak_bytes);
    fields.read("op_kinds", report.op_kinds);
    fields.read("op_kinds_half", report.op_kinds_half);
    fields.read("multiply_adds", report.multiply_adds);
    fields.read("multiply_adds_half", report.multiply_adds_half);
    fields.read("headroom_bits", report.headroom_bits);
    fields.read("headroom_module", report.headroom_module);
    fields.read("loss_finite", report.loss_finite);
    fields.read("outputs_finite", report.outputs_finite);
    fields.read("notes", report.notes);
    return report;
}

}  // namespace record_json

Result<TrialReport> trial_report_from_json(const nlohmann::json& json) {
    Fields fields(json, "the trial's answer");
    TrialReport report = record_json::trial_from(fields);
    if (auto result = fields.result(); !result) return result.error();
    return report;
}

}  // namespace mantissa
