#include "engine/accelerator_core.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/gradient_sync.h"
#include "engine/misuse.h"
#include "engine/precision_choice.h"
#include "engine/probability_losses.h"
#include "engine/synced_batch_norm.h"
#include "engine/tracker_set.h"

namespace mantissa {
namespace {

torch::Device resolve_device(const std::string& name) {
    if (name == "auto") {
        return torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
    }
    std::optional<torch::Device> device;
    try {
        device.emplace(name);
    } catch (const c10::Error&) {
        throw EngineError({ErrorCode::BadPlan, "device is '" + name + "'", "use auto, cpu, cuda or cuda:N"});
    }
    if (!device->is_cpu() && !device->is_cuda()) {
        throw EngineError({ErrorCode::UnsupportedDevice, "device '" + name + "' is not supported",
                           "use auto, cpu, cuda or cuda:N"});
    }
    if (device->is_cuda()) {
        const auto count = static_cast<std::int64_t>(torch::cuda::is_available() ? torch::cuda::device_count() : 0);
        const std::int64_t index = device->has_index() ? device->index() : 0;
        if (index >= count) {
            throw EngineError({ErrorCode::UnsupportedDevice,
                               count == 0 ? "device '" + name + "' is not there: no NVIDIA driver or GPU was found"
                                          : "device '" + name + "' is not there: this machine has " +
                                                std::to_string(count) + " CUDA device(s)",
                               "use cpu, or auto to take what there is"});
        }
        return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
    }
    return torch::kCPU;  // cpu:0 is the same
}

// Once per step, mostly a few numbers: a copy of bytes costs a tenth of copy_.
void save(const std::vector<torch::Tensor>& from, const std::vector<torch::Tensor>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i].is_cpu() && from[i].is_contiguous() && to[i].is_contiguous() && from[i].nbytes() == to[i].nbytes()) {
            std::memcpy(to[i].mutable_data_ptr(), from[i].const_data_ptr(), from[i].nbytes());
        } else {
            to[i].copy_(from[i]);
        }
    }
}

// The groups' own exceptions have no type in common; what they say names the place in the network's code, or a pair of processes.
bool comes_from_the_network(const std::exception& error) {
    const std::string_view text(error.what());
    const auto says = [text](std::string_view words) { return text.find(words) != std::string_view::npos; };
    return dynamic_cast<const c10::DistError*>(&error) != nullptr || says("/gloo/") || says("caused pair closure");
}

/// The gradients are averaged while backward runs: what befalls another process ends it here.
void walk_back_with_others(const torch::Tensor& root, const ProcessGroup& processes) {
    try {
        misuse::walk_back(root);
    } catch (const std::exception& error) {
        if (!comes_from_the_network(error)) throw;
        const std::string text = error.what();
        throw EngineError({ErrorCode::WorkerLost,
                           "averaging the gradients of process " + std::to_string(processes.rank()) + " of " +
                               std::to_string(processes.size()) + " failed: another process ended, or didn't come in time (" +
                               text.substr(0, text.find('\n')) + ")",
                           "look at the first process that ended: its own words say why"});
    }
}

}  // namespace

AcceleratorCore::AcceleratorCore(const AcceleratorOptions& given) : options(resolved(given)) {
    const ChosenPrecision chosen = choose_precision(options.mixed_precision);
    device = resolve_device(choose_device_name(options.device));
    refuse_without_fp8(chosen, device, options.allow_emulated);
    // What a kernel or NCCL makes on the current device belongs on this one.
    if (device.is_cuda()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
    accumulation_steps = choose_accumulation_steps(options.gradient_accumulation_steps);
    if (chosen.precision == Precision::Fp16 && options.loss_scale_enabled) {
        scaler.emplace(options.loss_scale, device);
    }
    if (!options.fp32_islands.empty()) {
        islands = std::make_unique<Fp32Islands>(options.fp32_islands);
    }
    // A mode of its own on one process would go unnoticed: the gradients would be averaged all the same.
    if (options.processes && options.processes->size() > 1) {
        refuse_differences(*options.processes,
                           std::string("mixed_precision ") + to_string(chosen.precision) + "\ngradient_accumulation_steps " +
                               std::to_string(accumulation_steps) + "\n",
                           "the processes of one run were set up differently", "give every process the same settings");
    }
    prepared.processes = options.processes;
    fix_process_precision(chosen.precision);
    if (chosen.precision == Precision::Fp8) fp8 = std::make_unique<Fp8Layers>();
    precision = chosen.precision;
    precision_source = chosen.source;
    if (options.host_looks == HostLooks::Later) {
        refuse_to_look_later();
        deferred.emplace(options.on_nonfinite == OnNonfinite::Stop);
    }
    if (!options.log_with.empty()) trackers = std::make_shared<TrackerSet>(options);
    if (precision != Precision::No && device.is_cpu() && options.compat == Compat::None) refuse_probability_losses_on_cpu();
}

void AcceleratorCore::enter_micro_batch() {
    loaded_at_end_of_data = false;
    if (window.is_due && !window.was_held) {
        window.size = 0;
    }
    window.was_held = m_held > 0;
    ++window.size;
    window.has_backward = false;
    if (options.sync_with_dataloader && active_loaders->end_of_data()) {
        window.micro_step = 0;
        window.is_due = true;
    } else {
        window.is_due = ++window.micro_step % accumulation_steps == 0;
    }
    sync_gradients = window.is_due && m_held == 0;
}

void AcceleratorCore::hold_sync(bool held) {
    m_held += held ? 1 : -1;
    window.was_held = window.was_held || held;
    sync_gradients = window.is_due && m_held == 0;
}

void AcceleratorCore::backward(const torch::Tensor& loss, double loss_factor) {
    misuse::refuse_inside_autocast(device.type(), "backward");
    finish_if_stepped();
    misuse::check_loss(loss, window.attempts);
    if (misuse::is_elsewhere(loss, device)) {
        const auto& models = prepared.models();
        const bool all_here = std::all_of(models.begin(), models.end(),
                                          [this](const auto& one) { return one->device == device; });
        if (all_here && options.device_placement) {
            misuse::refuse_loss_device(loss, device);
        }
    }
    make_addable();
    if (prepared.optimizers().empty()) {
        window.losses.clear();  // nobody ends an attempt
    }
    window.is_attempt_open = window.has_backward = true;
    window.losses.push_back(loss.detach());

    torch::Tensor root = loss_factor == 1.0 ? loss : loss * loss_factor;
    if (accumulation_steps != 1) {
        root = root / static_cast<double>(accumulation_steps);
    }
    if (scaler) {
        root = scaler->root_of(root);
    }
    // Every model: a backward may reach one whose forward was long ago, and without this its gradients would stay each process's own.
    const auto& models = prepared.models();
    const auto each_sync = [&](const auto& call) {
        for (const auto& model : models) {
            if (sync_gradients && model->gradients) call(*model->gradients);
        }
    };
    each_sync([&](GradientSync& one) { one.before_backward(root); });
    if (options.processes) {
        walk_back_with_others(root, *options.processes);
    } else {
        misuse::walk_back(root);
    }
    each_sync([](GradientSync& one) { one.after_backward(); });
}

void AcceleratorCore::make_addable() {
    for (const auto& optimizer : prepared.optimizers()) {
        const bool is_unscaled = optimizer->stage == PreparedOptimizerState::Stage::Unscaled;
        if ((optimizer->holds_used_gradients || is_unscaled) && !is_upstream()) {
            const double undone = is_unscaled ? short_window_weight() : 1.0;
            const double factor = (scaler ? scaler->schedule().scale() : 1.0) / undone;
            const torch::NoGradGuard no_grad;
            if (const auto gradients = optimizer->core->gradients(); !gradients.empty() && factor != 1.0) {
                at::_foreach_mul_(gradients, factor);
            }
            take_back(*optimizer);
        }
        optimizer->holds_used_gradients = false;
    }
}

AutocastScope AcceleratorCore::autocast_of_forward() const {
    if (precision == Precision::No) {
        return AutocastScope::only_islands(islands.get());
    }
    const bool cache = options.autocast_cache && at::autocast::is_autocast_cache_enabled();
    return {device.type(), autocast_dtype(precision), true, cache, islands.get(), fp8.get()};
}

ForwardScope AcceleratorCore::forward_scope(const PreparedModelState& model) const {
    const bool is_synced = model.gradients && options.sync_batch_norm && options.processes->size() > 1;
    return {autocast_of_forward(), is_synced ? std::make_shared<SyncedBatchNormScope>(options.processes) : nullptr};
}

AutocastScope AcceleratorCore::autocast(const AutocastOptions& override) const {
    const at::ScalarType dtype = override.dtype.value_or(autocast_dtype(precision));
    const bool is_island = !override.enabled || (override.dtype && dtype == at::kFloat);
    if (!is_island && dtype != autocast_dtype(precision)) {
        throw EngineError({ErrorCode::UnsupportedPrecision,
                           std::string("autocast to ") + c10::toString(dtype) + " in a process that trains in " +
                               to_string(precision),
                           "leave dtype unset, or use kFloat for an fp32 island; another mode wants a fresh process"});
    }
    if (precision == Precision::No) {
        return is_island ? AutocastScope() : AutocastScope::without_cast(islands.get());
    }
    const bool cache = override.cache_enabled.value_or(options.autocast_cache && at::autocast::is_autocast_cache_enabled());
    return {device.type(), autocast_dtype(precision), !is_island, cache, islands.get(), fp8.get()};
}

void AcceleratorCore::check_argument(const torch::Tensor& argument, int position, const PreparedModelState& model) const {
    if (argument.defined() && misuse::is_elsewhere(argument, model.device)) {
        misuse::refuse_argument_device(argument, position, model, prepared.loaders);
    }
}

void AcceleratorCore::before_forward(PreparedModelState& model) {
    misuse::refuse_moved_model(model);
    if (fp8) fp8->know(model.parameters);
    send_buffers(model);
    // A refused step goes back as a skipped one does: what was evaluated or saved after a stop is from before it.
    const bool may_skip = scaler || options.on_nonfinite != OnNonfinite::Mark;
    if (model.buffers.empty() || !model.is_trained || !may_skip || options.batch_norm_on_skip == BatchNormOnSkip::Keep ||
        model.is_saved || !model.module->is_training() || !torch::GradMode::is_enabled()) {
        return;
    }
    const torch::NoGradGuard no_grad;
    if (model.saved.empty()) {
        for (const auto& buffer : model.buffers) {
            model.saved.push_back(buffer.clone());
        }
    } else {
        save(model.buffers, model.saved);
    }
    model.is_saved = true;
}

// As upstream's engine: the main process's statistics hold, and go over before the forward pass that follows one with a sync.
void AcceleratorCore::send_buffers(PreparedModelState& model) const {
    if (!model.gradients || model.buffers.empty()) return;
    if (model.buffers_are_apart) broadcast_together(*options.processes, model.buffers, 0);
    model.buffers_are_apart = sync_gradients && model.module->is_training() && torch::GradMode::is_enabled();
}

std::vector<Fp8Layer> AcceleratorCore::fp8_layers() const {
    std::vector<Fp8Layer> layers = fp8 ? fp8->seen() : std::vector<Fp8Layer>();
    for (const auto& model : prepared.models()) {
        for (const auto& parameter : model->module->named_parameters()) {
            const auto dot = parameter.key().rfind('.');
            for (Fp8Layer& layer : layers) {
                if (layer.weight != parameter.value().unsafeGetTensorImpl()) continue;
                layer.module = dot == std::string::npos ? "" : parameter.key().substr(0, dot);
            }
        }
    }
    return layers;
}

bool AcceleratorCore::any_skipped() const {
    const auto& optimizers = prepared.optimizers();
    return std::any_of(optimizers.begin(), optimizers.end(), [](const auto& one) { return one->skipped; });
}

void AcceleratorCore::clear() {
    prepared.clear();
    m_unscaled.clear();
    m_facts_open = false;
    window = WindowProgress{};
    sync_gradients = m_held == 0;
    loaders.clear();
    active_loaders->set_end_of_data(false);
}

}  // namespace mantissa
