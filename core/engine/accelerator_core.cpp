#include "engine/accelerator_core.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/numbers.h"
#include "engine/autocast_scope.h"
#include "engine/gradients.h"
#include "engine/precision_choice.h"
#include "engine/probability_losses.h"
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
    return *device;
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

}  // namespace

AcceleratorCore::AcceleratorCore(const AcceleratorOptions& given) : options(resolved(given)) {
    const ChosenPrecision chosen = choose_precision(options.mixed_precision);
    device = resolve_device(choose_device_name(options.device));
    accumulation_steps = choose_accumulation_steps(options.gradient_accumulation_steps);
    if (chosen.precision == Precision::Fp16 && options.loss_scale_enabled) {
        scaler.emplace(options.loss_scale, device);
    }
    fix_process_precision(chosen.precision);
    precision = chosen.precision;
    precision_source = chosen.source;
    if (!options.log_with.empty()) trackers = std::make_shared<TrackerSet>(options);
    if (precision != Precision::No && device.is_cpu() && options.compat == Compat::None) refuse_probability_losses_on_cpu();
}

void AcceleratorCore::enter_micro_batch() {
    loaded_at_end_of_data = false;
    if (options.sync_with_dataloader && active_loaders->end_of_data()) {
        m_micro_step = 0;
        sync_gradients = true;
    } else {
        sync_gradients = ++m_micro_step % accumulation_steps == 0;
    }
    ++m_window_size;
}

void AcceleratorCore::refuse_inside_autocast(const char* what) const {
    if (is_inside_autocast(device.type())) {
        throw EngineError({ErrorCode::BadPlan, std::string(what) + " was called inside autocast",
                           "end the autocast block after the loss: it covers forward and loss only"});
    }
}

void AcceleratorCore::begin_attempt() {
    if (m_attempt_open) {
        return;
    }
    m_attempt_open = true;
    m_seen_losses.clear();
    m_losses.clear();
}

void AcceleratorCore::refuse_second_backward(const torch::Tensor& loss) const {
    for (const auto& seen : m_seen_losses) {
        if (seen._unsafe_get_target() == loss.unsafeGetTensorImpl()) {
            throw EngineError({ErrorCode::BadPlan, "backward was called twice on the same loss",
                               "compute a new loss, or add the terms and call backward once"});
        }
    }
}

void AcceleratorCore::backward(const torch::Tensor& loss, double loss_factor) {
    refuse_inside_autocast("backward");
    if (!loss.defined() || loss.numel() != 1 || !loss.is_floating_point()) {
        throw EngineError({ErrorCode::BadPlan, "backward wants a loss of one floating-point value",
                           "reduce it first, for example with mean()"});
    }
    if (!loss.requires_grad()) {
        throw EngineError({ErrorCode::BadPlan, "the loss has no graph: no parameter would get a gradient",
                           "compute it from the prepared model, outside torch::NoGradGuard"});
    }
    refuse_second_backward(loss);
    const bool any_stepped = std::any_of(m_optimizers.begin(), m_optimizers.end(), [](const auto& one) {
        return one->stage == PreparedOptimizerState::Stage::Stepped;
    });
    if (any_stepped) {
        finish_attempt();  // not every optimizer takes part in every iteration: the next loss closes the attempt
    }
    begin_attempt();
    m_seen_losses.emplace_back(loss.getIntrusivePtr());
    m_losses.push_back(loss.detach());
    torch::Tensor root = loss_factor == 1.0 ? loss : loss * loss_factor;
    if (accumulation_steps != 1) {
        root = root / static_cast<double>(accumulation_steps);
    }
    if (scaler) {
        root = scaler->scale(root);
    }
    root.backward();
}

void AcceleratorCore::open_facts() {
    if (m_facts_open) {
        return;
    }
    m_facts_open = true;
    facts = StepFacts{};
    facts.step = m_attempts;
    for (const auto& loss : m_losses) {
        facts.losses.push_back(loss.item<double>());
        facts.nonfinite_loss = facts.nonfinite_loss || !std::isfinite(facts.losses.back());
        facts.loss += facts.losses.back() / static_cast<double>(m_losses.size());
    }
    if (!m_optimizers.empty()) {
        facts.learning_rate = m_optimizers.front()->core->groups().at(0).learning_rate;
    }
    if (scaler) {
        facts.loss_scale = scaler->schedule().scale();
    }
}

double AcceleratorCore::short_window_weight() const {
    const bool is_short = options.short_window == ShortWindow::RightSized && options.sync_with_dataloader &&
                          (active_loaders->end_of_data() || loaded_at_end_of_data) && m_window_size > 0 && m_window_size < accumulation_steps;
    return is_short ? static_cast<double>(accumulation_steps) / static_cast<double>(m_window_size) : 1.0;
}

void AcceleratorCore::end_window(PreparedOptimizerState& optimizer, bool is_step) {
    if (optimizer.stage != PreparedOptimizerState::Stage::Ready) {
        return;
    }
    for (const auto& group : optimizer.core->groups()) {  // cast to half since prepare?
        for (const auto& one : group.parameters) refuse_half_weight(one, one.scalar_type() == at::kFloat ? "" : name_of(one));
    }
    open_facts();
    const std::vector<torch::Tensor> gradients = optimizer.core->gradients();
    if (scaler) {
        if (!m_attempt_open || gradients.empty()) {
            throw EngineError({ErrorCode::BadPlan,
                               std::string("no scaled gradient reached the optimizer ") + optimizer.core->name(),
                               "call Accelerator::backward before clip or step, on a loss of its parameters"});
        }
        // Upstream's fused kernels unscale inside their step, and divide where the scaler multiplies.
        const bool divides = is_step && options.compat == Compat::Accelerate && optimizer.core->is_fused();
        optimizer.found_inf = divides ? scaler->unscale_by_division(gradients) : scaler->unscale(gradients);
    }
    if (const double weight = short_window_weight(); weight != 1.0) {
        const torch::NoGradGuard no_grad;
        at::_foreach_mul_(gradients, weight);
    }
    optimizer.sum_of_squares = sum_of_squares(gradients);
    if (!std::isfinite(optimizer.sum_of_squares)) {
        facts.nonfinite_grads += count_nonfinite(gradients);
        // The scaler looks before it divides; a finite scaled gradient can leave fp32 in the division itself.
        optimizer.found_inf = optimizer.found_inf || (scaler && options.compat == Compat::None);
    }
    if (options.processes) agree_with_others(optimizer);
    optimizer.stage = PreparedOptimizerState::Stage::Unscaled;
}

void AcceleratorCore::end_window_of_all() {
    if (!sync_gradients) {
        return;
    }
    for (const auto& optimizer : m_optimizers) {
        if (!optimizer->core->gradients().empty()) {
            end_window(*optimizer);
        }
    }
}

bool AcceleratorCore::is_bad(const PreparedOptimizerState& optimizer) const {
    return facts.nonfinite_loss || (!scaler && !std::isfinite(optimizer.sum_of_squares)) ||
           (optimizer.found_inf && scaler->schedule().would_collapse_on_overflow());
}

void AcceleratorCore::step(PreparedOptimizerState& optimizer) {
    refuse_inside_autocast("the optimizer's step");
    if (!sync_gradients) {
        return;
    }
    if (scaler && optimizer.stage == PreparedOptimizerState::Stage::Stepped) {
        throw EngineError({ErrorCode::BadPlan, "the optimizer was stepped twice for one backward",
                           "call backward between two steps"});
    }
    end_window(optimizer, true);
    const bool is_refused = options.on_nonfinite != OnNonfinite::Mark && is_bad(optimizer);
    optimizer.skipped = optimizer.found_inf || is_refused;
    const std::string bad_parameter = is_refused ? first_nonfinite_parameter(optimizer) : "";
    if (!optimizer.skipped) {
        const torch::NoGradGuard no_grad;
        optimizer.core->update();
    } else if (options.compat == Compat::Accelerate && optimizer.core->is_fused()) {
        optimizer.skipped = false;  // D4: upstream's fused kernel skips inside, and nobody is told
    }
    optimizer.stage = PreparedOptimizerState::Stage::Stepped;
    const bool stops = is_refused && options.on_nonfinite != OnNonfinite::Skip;
    const bool all_stepped = std::all_of(m_optimizers.begin(), m_optimizers.end(), [](const auto& one) {
        return one->stage == PreparedOptimizerState::Stage::Stepped;
    });
    if (stops || all_stepped) {
        finish_attempt();
    }
    if (stops) {
        stop_for(bad_parameter);
    }
}

void AcceleratorCore::finish_attempt() {
    double sum = 0;
    bool found = false, skipped = false;
    for (const auto& optimizer : m_optimizers) {
        if (optimizer->stage != PreparedOptimizerState::Stage::Ready) {
            sum += optimizer->sum_of_squares;
            found = found || optimizer->found_inf;
            skipped = skipped || optimizer->skipped;
        }
        optimizer->stage = PreparedOptimizerState::Stage::Ready;
        optimizer->found_inf = false;
    }
    facts.grad_norm = std::sqrt(sum);
    facts.found_inf = found;
    facts.skipped = skipped;
    if (scaler) {
        scaler->record(found ? GradientFinding::Overflow : GradientFinding::Finite);
        facts.scale_collapsed = scaler->schedule().is_collapsed();
        facts.growth_tracker = scaler->schedule().growth_tracker();
        facts.loss_scale_after = scaler->schedule().scale();
    }
    for (const auto& model : m_models) {
        if (skipped && model->is_saved) {
            const torch::NoGradGuard no_grad;
            at::_foreach_copy_(model->buffers, model->saved);
        }
        model->is_saved = false;
    }
    m_attempt_open = m_facts_open = false;
    m_window_size = 0, ++m_attempts;
    m_applied += skipped ? 0 : 1;
    if (trackers) trackers->attempt(facts, m_applied);
}

void AcceleratorCore::stop_for(const std::string& bad_parameter) const {
    const std::string at = " at step " + std::to_string(facts.step);
    if (facts.nonfinite_loss) {
        throw NonFinite(NonFinite::Where::Loss, facts.step, "loss",
                        {ErrorCode::NonFinite, "the loss " + (std::isfinite(facts.loss) ? std::string("of another process is not finite") : "is " + readable_number(facts.loss)) + at + "; no weight was moved",
                         "look at the batch, the learning rate and, in fp16, the range of the activations"});
    }
    if (facts.found_inf) {
        throw NonFinite(NonFinite::Where::LossScale, facts.step, "loss scale",
                        {ErrorCode::NonFinite,
                         "gradients still overflow" + at + " with the loss scale at its floor, " +
                             readable_scale(scaler->schedule().scale()) + "; no weight was moved",
                         "this model doesn't live in the range of fp16: try bf16"});
    }
    throw NonFinite(NonFinite::Where::Gradient, facts.step, bad_parameter,
                    {ErrorCode::NonFinite,
                     "the gradient of " + (bad_parameter.empty() ? "a parameter of another process" : bad_parameter) + " is not finite" + at + "; no weight was moved",
                     "look at the batch, the learning rate and the model's formulas"});
}

std::string AcceleratorCore::name_of(const torch::Tensor& parameter) const {
    const auto found = m_parameter_names.find(parameter.unsafeGetTensorImpl());
    return found == m_parameter_names.end() ? "a parameter of no prepared model" : found->second;
}

std::string AcceleratorCore::first_nonfinite_parameter(const PreparedOptimizerState& optimizer) const {
    for (const auto& group : optimizer.core->groups()) {
        for (const auto& parameter : group.parameters) {
            if (parameter.grad().defined() && !std::isfinite(sum_of_squares({parameter.grad()}))) {
                return name_of(parameter);
            }
        }
    }
    return "";
}

void AcceleratorCore::refuse_half_weight(const torch::Tensor& parameter, const std::string& name) {
    const auto type = parameter.scalar_type();
    if (parameter.requires_grad() && (type == at::kHalf || type == at::kBFloat16)) {
        throw EngineError({ErrorCode::BadPlan,
                           "the trainable weight " + name + " is " + c10::toString(type) +
                               ": small updates round away, Adam's eps becomes 0, and fp16 can't be unscaled",
                           "keep weights in fp32 (no .half()); autocast makes the half copies. Frozen half weights are fine"});
    }
}

void AcceleratorCore::refuse_half_statistics(const torch::nn::Module& module) {
    for (const auto& entry : module.named_buffers()) {
        const auto type = entry.value().scalar_type();
        const bool is_statistic = entry.key().ends_with("running_mean") || entry.key().ends_with("running_var");
        if (is_statistic && module.is_training() && (type == at::kHalf || type == at::kBFloat16)) {
            throw EngineError({ErrorCode::BadPlan,
                               "the statistic " + entry.key() + " is " + c10::toString(type) +
                                   ": fp16 can't hold a variance above 65504, and small updates round away",
                               "keep normalisation layers in fp32 (no .half()), or call eval() where nothing is trained"});
        }
    }
}

std::shared_ptr<PreparedOptimizerState> AcceleratorCore::add(std::shared_ptr<OptimizerCore> optimizer) {
    for (const auto& group : optimizer->groups()) {
        for (const auto& parameter : group.parameters) {
            refuse_half_weight(parameter, name_of(parameter));
        }
    }
    auto state = std::make_shared<PreparedOptimizerState>();
    state->core = std::move(optimizer);
    m_optimizers.push_back(state);
    return state;
}

std::shared_ptr<PreparedModelState> AcceleratorCore::add(std::shared_ptr<torch::nn::Module> module) {
    for (const auto& entry : module->named_parameters()) {
        refuse_half_weight(entry.value(), entry.key());
        m_parameter_names[entry.value().unsafeGetTensorImpl()] = entry.key();
    }
    refuse_half_statistics(*module);
    module->to(device);
    auto state = std::make_shared<PreparedModelState>();
    state->buffers = module->buffers();
    state->module = std::move(module);
    m_models.push_back(state);
    return state;
}

void AcceleratorCore::before_forward(PreparedModelState& model, const torch::Tensor* input) {
    if (input != nullptr && input->device() != device) {
        throw EngineError({ErrorCode::BadPlan,
                           "the batch is on " + input->device().str() + ", the prepared model on " + device.str(),
                           "prepare the loader too, or make hand-made tensors on accelerator.device()"});
    }
    // A refused step goes back as a skipped one does: what was evaluated or saved after a stop is from before it.
    const bool may_skip = scaler || options.on_nonfinite != OnNonfinite::Mark;
    if (model.buffers.empty() || !may_skip || options.batch_norm_on_skip == BatchNormOnSkip::Keep || model.is_saved ||
        !model.module->is_training() || !torch::GradMode::is_enabled()) {
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

bool AcceleratorCore::any_skipped() const {
    return std::any_of(m_optimizers.begin(), m_optimizers.end(), [](const auto& one) { return one->skipped; });
}

std::vector<std::shared_ptr<PreparedOptimizerState>> AcceleratorCore::optimizers_of(const OptimizerCore* core) const {
    std::vector<std::shared_ptr<PreparedOptimizerState>> bound;
    std::copy_if(m_optimizers.begin(), m_optimizers.end(), std::back_inserter(bound),
                 [core](const auto& one) { return one->core.get() == core; });
    return bound.empty() ? m_optimizers : bound;
}

}  // namespace mantissa
