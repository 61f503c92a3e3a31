#include "devices/probe.h"

#include <algorithm>

#include "base/clock.h"
#include "base/numbers.h"
#include "devices/cpu_facts.h"
#include "devices/cuda_plugin.h"
#include "devices/nvidia_driver.h"
#include "devices/nvml.h"
#include "devices/support.h"
#include "engine/autocast_scope.h"

namespace mantissa {
namespace {

// One linear layer, forward and backward: small, but the ops that matter run in the mode or throw.
std::string try_mode(const torch::Device& device, Precision mode) {
    const torch::Tensor weight =
        torch::full({16, 16}, 0.25, torch::TensorOptions().device(device)).requires_grad_();
    const torch::Tensor input = torch::ones({4, 16}, torch::TensorOptions().device(device));
    torch::Tensor output;
    if (mode == Precision::No) {
        output = torch::linear(input, weight);
    } else {
        const std::optional<Fp8Layers> fp8 = mode == Precision::Fp8 ? std::optional<Fp8Layers>(std::in_place) : std::nullopt;
        const AutocastScope autocast(device.type(), autocast_dtype(mode), true, true, nullptr, fp8 ? &*fp8 : nullptr);
        output = torch::linear(input, weight);
        if (fp8 && fp8->seen().empty()) return "the layer did not run in fp8";
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
        if (can_compute && answer.support != Support::Unsupported) try_and_time(facts, support);
        report.modes.push_back(std::move(support));
    }
    if (facts.kind == DeviceFacts::Kind::Cuda) report.figures = gpu_figures(open_nvml(), facts.uuid);
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
        if (!decide_support(device, mode, false).allowed) continue;
        text += (text.empty() ? "" : ", ") + std::string(to_string(mode));
    }
    return "choose one of " + text;
}

/// The weakest of the devices that take part decides: native before emulated before unsupported, the first of equals.
Result<DeviceChoice> settled(const DeviceFacts& own, const std::vector<DeviceFacts>& taking_part, Precision mode, bool allow_emulated) {
    const DeviceFacts* weakest = &taking_part.front();
    for (const DeviceFacts& device : taking_part) {
        if (decide_support(device, mode, allow_emulated).support > decide_support(*weakest, mode, allow_emulated).support)
            weakest = &device;
    }
    const SupportAnswer answer = decide_support(*weakest, mode, allow_emulated);
    if (!answer.allowed) {
        const std::string hint =
            choices(*weakest) + (answer.support == Support::Emulated ? ", or allow emulation" : "");
        return Error{ErrorCode::UnsupportedPrecision,
                     std::string(to_string(mode)) + " can't be used: " + answer.reason, hint};
    }
    return DeviceChoice{own, {mode, mode, answer.support, answer.reason}};
}

}  // namespace

DeviceList find_devices() {
    DeviceList list;
    list.devices.push_back(read_cpu_facts());
    const DriverAnswer& driver = ask_nvidia_driver();
    if (!driver.note.empty()) list.notes.push_back(driver.note);
    if (!driver.is_there) return list;
    list.devices.insert(list.devices.end(), driver.devices.begin(), driver.devices.end());
    if (const std::string fault = load_torch_cuda(); !fault.empty()) {
        list.notes.push_back("the NVIDIA driver is there, but LibTorch's CUDA part can't be loaded: " + fault);
        return list;
    }
    const auto plugin = load_cuda_plugin();
    list.cuda_is_loaded = plugin.ok();
    if (!plugin) list.notes.push_back(describe(plugin.error()));
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
    return settled(*picked, {*picked}, mode, allow_emulated);
}

Result<DeviceChoice> choose_device_of_several(const DeviceList& list, const DeviceWish& wish, Precision mode, bool allow_emulated) {
    if (wish.processes <= 1 || wish.device == "cpu") return choose_device(list, wish.device, mode, allow_emulated);
    std::vector<DeviceFacts> gpus(list.devices.begin() + 1, list.devices.end());
    const bool are_enough = list.cuda_is_loaded && static_cast<std::int64_t>(gpus.size()) >= wish.processes;
    if (wish.device == "auto" && !are_enough) return choose_device(list, "cpu", mode, allow_emulated);
    const std::string count = std::to_string(wish.processes) + " processes";
    if (wish.device != "auto" && wish.device != "cuda") {
        return Error{ErrorCode::UnsupportedDevice, count + " can't share " + wish.device + ": each wants a GPU of its own",
                     "\"cuda\" gives each process the GPU of its number on this machine"};
    }
    if (!list.cuda_is_loaded || gpus.empty()) return choose_device(list, "cuda", mode, allow_emulated);  // says why there is none
    if (!are_enough) {
        return Error{ErrorCode::UnsupportedDevice,
                     count + " want a GPU each, this machine has " + std::to_string(gpus.size()) + ": " + known_devices(list),
                     "use --num_processes " + std::to_string(gpus.size()) + ", or --device cpu"};
    }
    gpus.resize(static_cast<std::size_t>(wish.processes));
    const DeviceFacts own = gpus.at(static_cast<std::size_t>(wish.local_rank));
    return settled(own, gpus, mode, allow_emulated);
}

}  // namespace mantissa
