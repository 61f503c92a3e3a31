#include "devices/probe.h"

#include <algorithm>

#include "base/clock.h"
#include "base/numbers.h"
#include "devices/cpu_facts.h"
#include "devices/nvidia_driver.h"
#include "devices/support.h"
#include "engine/autocast_scope.h"

namespace mantissa {
namespace {

// One linear layer, forward and backward: small, but the ops that matter run in the mode or throw.
std::string try_mode(const torch::Device& device, Precision mode) {
    const torch::Tensor weight =
        torch::full({8, 16}, 0.25, torch::TensorOptions().device(device)).requires_grad_();
    const torch::Tensor input = torch::ones({4, 16}, torch::TensorOptions().device(device));
    torch::Tensor output;
    if (mode == Precision::No) {
        output = torch::linear(input, weight);
    } else {
        const AutocastScope autocast(device.type(), autocast_dtype(mode));
        output = torch::linear(input, weight);
    }
    const at::ScalarType expected = mode == Precision::No ? at::kFloat : autocast_dtype(mode);
    if (output.scalar_type() != expected)
        return std::string("the product came out as ") + c10::toString(output.scalar_type());
    output.to(torch::kFloat).sum().backward();
    if (output.detach().to(torch::kFloat).ne(4.0).any().item<bool>()) return "the product has a wrong value";
    if (!weight.grad().defined() || weight.grad().ne(4.0).any().item<bool>())
        return "the gradient has a wrong value";
    return "";
}

void try_and_time(const DeviceFacts& facts, ModeSupport& answer) {
    answer.tried = true;
    const torch::Device device(facts.id);
    try {
        std::string fault = try_mode(device, answer.mode);  // also warms up
        const std::int64_t start = monotonic_ns();
        if (fault.empty()) fault = try_mode(device, answer.mode);
        answer.trial_ms = static_cast<double>(monotonic_ns() - start) / 1e6;
        answer.tried_ok = fault.empty();
        if (!fault.empty()) answer.reason += " Tried: " + fault + ".";
    } catch (const std::exception& exception) {
        answer.tried_ok = false;
        const std::string text = exception.what();
        answer.reason += " Tried, and refused: " + text.substr(0, text.find('\n')) + ".";
    }
    if (!answer.tried_ok) answer.support = Support::Unsupported;
}

DeviceReport report_of(const DeviceFacts& facts, bool can_compute) {
    DeviceReport report{facts.id, facts.name, facts.memory_bytes, facts.capability(), {}};
    for (const Precision mode : all_precisions) {
        const SupportAnswer answer = decide_support(facts, mode, false);
        ModeSupport support{mode, answer.support, answer.reason, false, false, std::nullopt};
        if (can_compute && mode != Precision::Fp8 && answer.support != Support::Unsupported)
            try_and_time(facts, support);
        report.modes.push_back(std::move(support));
    }
    return report;
}

std::string known_devices(const DeviceList& list) {
    std::string known;
    for (const DeviceFacts& device : list.devices) known += (known.empty() ? "" : ", ") + device.id;
    return known;
}

Result<DeviceFacts> pick(const DeviceList& list, std::string device) {
    if (device == "auto") {
        return list.cuda_is_loaded && list.devices.size() > 1 ? list.devices[1] : list.devices.front();
    }
    if (device == "cuda") device = "cuda:0";
    for (const DeviceFacts& facts : list.devices) {
        if (facts.id != device) continue;
        if (facts.kind == DeviceFacts::Kind::Cpu || list.cuda_is_loaded) return facts;
    }
    std::string message = "device is \"" + device + "\", which can't be used here";
    for (const std::string& note : list.notes) message += ": " + note;
    return Error{ErrorCode::UnsupportedDevice, message,
                 "this machine has " + known_devices(list) + "; \"auto\" takes the best of them"};
}

std::string choices(const DeviceFacts& device) {
    std::string text;
    for (const Precision mode : all_precisions) {
        if (mode == Precision::Fp8 || !decide_support(device, mode, false).allowed) continue;
        text += (text.empty() ? "" : ", ") + std::string(to_string(mode));
    }
    return "choose one of " + text;
}

}  // namespace

DeviceList find_devices() {
    DeviceList list;
    list.devices.push_back(read_cpu_facts());
    DriverAnswer driver = ask_nvidia_driver();
    if (!driver.note.empty()) list.notes.push_back(driver.note);
    if (!driver.is_there) return list;
    const std::string fault = load_torch_cuda();
    list.cuda_is_loaded = fault.empty();
    if (!fault.empty())
        list.notes.push_back("the NVIDIA driver is there, but LibTorch's CUDA part can't be loaded: " +
                             fault);
    for (DeviceFacts& device : driver.devices) list.devices.push_back(std::move(device));
    return list;
}

ProbeReport probe_devices() {
    const DeviceList list = find_devices();
    ProbeReport report;
    report.torch_version = TORCH_VERSION;
    report.notes = list.notes;
    for (const DeviceFacts& facts : list.devices) {
        report.devices.push_back(
            report_of(facts, facts.kind == DeviceFacts::Kind::Cpu || list.cuda_is_loaded));
    }
    return report;
}

Result<DeviceChoice> choose_device(const DeviceList& list, const std::string& device, Precision mode,
                                   bool allow_emulated) {
    Result<DeviceFacts> picked = pick(list, device);
    if (!picked) return picked.error();
    const SupportAnswer answer = decide_support(*picked, mode, allow_emulated);
    if (!answer.allowed) {
        const std::string hint =
            choices(*picked) + (answer.support == Support::Emulated ? ", or allow emulation" : "");
        return Error{ErrorCode::UnsupportedPrecision,
                     std::string(to_string(mode)) + " can't be used: " + answer.reason, hint};
    }
    if (mode == Precision::Fp8) {
        return Error{ErrorCode::NotBuilt, "training in fp8 isn't built yet. " + answer.reason,
                     choices(*picked)};
    }
    return DeviceChoice{*picked, {mode, mode, answer.support, answer.reason}};
}

}  // namespace mantissa
