#include "engine/misuse.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "engine/engine_error.h"
#include "engine/loss_scaler.h"
#include "engine/prepared_objects.h"

namespace mantissa::misuse {
namespace {

// The last losses that went backward in this thread, whichever Accelerator did it. A graph's node is known as long as the loss lives.
struct SeenLoss {
    const torch::autograd::Node* node = nullptr;
    std::weak_ptr<torch::autograd::Node> life;
    std::uint32_t output = 0;
    const c10::TensorImpl* leaf = nullptr;  // a loss that is a weight itself may go backward in every attempt
    std::int64_t attempt = -1;
};
struct SeenLosses {
    std::array<SeenLoss, 64> ring;
    std::size_t next = 0;
};
thread_local SeenLosses seen_losses;

bool is_same(const SeenLoss& seen, const torch::Tensor& loss, const torch::autograd::Node* node, std::int64_t attempt) {
    if (node == nullptr) return seen.leaf == loss.unsafeGetTensorImpl() && seen.attempt == attempt;
    return seen.node == node && seen.output == loss.output_nr() && !seen.life.expired();
}

std::string sentence_of(const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    return text.substr(0, text.find('\n'));
}

bool speaks_of_devices(const std::string& text) {
    return text.find("to be on the same device") != std::string::npos;
}

[[noreturn]] void refuse_moved(const std::string& name, const torch::Tensor& tensor, const PreparedModelState& model) {
    throw EngineError({ErrorCode::BadPlan,
                       "the model was moved after prepare(): its " + name + " is on " + tensor.device().str() +
                           ", prepare() left it on " + model.device.str(),
                       "don't call to() on a prepared model; choose the device with the Accelerator's option"});
}

}  // namespace

void refuse_inside_autocast(at::DeviceType device, const char* what) {
    if (is_inside_autocast_block(device)) {
        throw EngineError({ErrorCode::BadPlan, std::string(what) + " was called inside autocast",
                           "end the autocast block after the loss: it covers forward and loss only"});
    }
}

void check_loss(const torch::Tensor& loss, std::int64_t attempt) {
    if (!loss.defined() || loss.numel() != 1 || !loss.is_floating_point()) {
        throw EngineError({ErrorCode::BadPlan, "backward wants a loss of one floating-point value",
                           "reduce it first, for example with mean()"});
    }
    if (!loss.requires_grad()) {
        throw EngineError({ErrorCode::BadPlan, "the loss has no graph: no parameter would get a gradient",
                           "compute it from the prepared model, outside torch::NoGradGuard"});
    }
    const std::shared_ptr<torch::autograd::Node> node = loss.grad_fn();
    for (const SeenLoss& seen : seen_losses.ring) {
        if (is_same(seen, loss, node.get(), attempt)) {
            throw EngineError({ErrorCode::BadPlan, "backward was called twice on the same loss",
                               "compute a new loss, or add the terms and call backward once"});
        }
    }
    if (is_scaled_already(loss)) {
        throw EngineError({ErrorCode::BadPlan, "the loss was scaled already, by a LossScaler of the program's own",
                           "give backward the plain loss: the Accelerator scales it, and there is one scaler per run"});
    }
    SeenLoss& slot = seen_losses.ring[seen_losses.next];
    seen_losses.next = (seen_losses.next + 1) % seen_losses.ring.size();
    slot = {node.get(), node, static_cast<std::uint32_t>(loss.output_nr()), node ? nullptr : loss.unsafeGetTensorImpl(), attempt};
}

void walk_back(const torch::Tensor& root) {
    try {
        root.backward();
    } catch (const c10::Error& error) {
        if (std::string_view(error.what()).find("through the graph a second time") == std::string_view::npos) throw;
        throw EngineError({ErrorCode::BadPlan, "backward went through a graph that an earlier backward has used up",
                           "a loss goes backward once: run the forward pass again, detach() what is kept from an earlier step, "
                           "or add the terms and call backward once"});
    }
}

void refuse_half_weight(const torch::Tensor& parameter, const std::string& name) {
    const auto type = parameter.scalar_type();
    if (parameter.requires_grad() && (type == at::kHalf || type == at::kBFloat16)) {
        throw EngineError({ErrorCode::BadPlan,
                           "the trainable weight " + name + " is " + c10::toString(type) +
                               ": small updates round away, Adam's eps becomes 0, and fp16 can't be unscaled",
                           "keep weights in fp32 (no .half()); autocast makes the half copies. Frozen half weights are fine"});
    }
}

void refuse_half_statistics(const torch::nn::Module& module) {
    for (const auto& entry : module.named_buffers()) {
        const auto type = entry.value().scalar_type();
        const std::string& name = entry.key();
        const bool is_statistic = name.ends_with("running_mean") || name.ends_with("running_var");
        if (is_statistic && module.is_training() && (type == at::kHalf || type == at::kBFloat16)) {
            throw EngineError({ErrorCode::BadPlan,
                               "the statistic " + name + " is " + c10::toString(type) +
                                   ": fp16 can't hold a variance above 65504, and small updates round away",
                               "keep normalisation layers in fp32 (no .half()), or call eval() where nothing is trained"});
        }
    }
}

bool is_elsewhere(const torch::Tensor& tensor, torch::Device device) {
    const torch::Device of = tensor.device();
    return of.type() != device.type() || (!of.is_cpu() && of.index() != device.index());
}

void refuse_argument_device(const torch::Tensor& argument, int position, const PreparedModelState& model,
                            const PreparedLoaders& loaders) {
    const std::string where = "argument " + std::to_string(position) + " of the model's forward is on " +
                              argument.device().str() + ", the prepared model on " + model.device.str();
    if (!loaders.any) {
        throw EngineError({ErrorCode::BadPlan, where + ": the batch comes from a loader that was not prepared",
                           "give the loader to prepare() too: it moves its batches. Tensors made by hand go on accelerator.device()"});
    }
    if (loaders.any_unplaced) {
        throw EngineError({ErrorCode::BadPlan, where + ": the batch comes from a loader that was prepared without device placement",
                           "switch device_placement on, or move the batch to accelerator.device()"});
    }
    throw EngineError({ErrorCode::BadPlan, where + ": the tensor was made by hand without accelerator.device()",
                       "make it with torch::TensorOptions().device(accelerator.device()); batches of the prepared loader are there already"});
}

void refuse_loss_device(const torch::Tensor& loss, torch::Device device) {
    throw EngineError({ErrorCode::BadPlan,
                       "the loss is on " + loss.device().str() + ", the Accelerator on " + device.str() +
                           ": it was not computed from the prepared model's output and the prepared loader's labels",
                       "take labels from the prepared loader, and make tensors of one's own on accelerator.device()"});
}

void refuse_moved_model(const PreparedModelState& model) {
    const auto is_away = [&](const torch::Tensor& one) { return one.defined() && is_elsewhere(one, model.device); };
    if (std::none_of(model.parameters.begin(), model.parameters.end(), is_away) &&
        std::none_of(model.buffers.begin(), model.buffers.end(), is_away)) {
        return;
    }
    for (const auto& entry : model.module->named_parameters()) {
        if (is_away(entry.value())) refuse_moved(entry.key(), entry.value(), model);
    }
    for (const auto& entry : model.module->named_buffers()) {
        if (is_away(entry.value())) refuse_moved(entry.key(), entry.value(), model);
    }
}

void explain_forward_error(const c10::Error& error, const PreparedModelState& model) {
    const std::string said = sentence_of(error);
    if (speaks_of_devices(said)) {
        throw EngineError({ErrorCode::BadPlan,
                           "the model's forward, on " + model.device.str() +
                               ", met a tensor of another device that is neither argument nor weight: it was made by hand without "
                               "accelerator.device() (torch: " + said + ")",
                           "make it on the device of an argument, or register it as a buffer so that prepare() moves it"});
    }
}

void refuse_released(const char* what) {
    throw EngineError({ErrorCode::BadPlan, std::string(what) + " was released by free_memory() and is used again",
                       "prepare it anew"});
}

}  // namespace mantissa::misuse
