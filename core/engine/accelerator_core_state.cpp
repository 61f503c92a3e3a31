// Where training stands between two calls, as a bundle: counters, facts of the last attempt, and what an open accumulation window
// consists of (gradients, losses, the buffers to go back to).
#include <unordered_set>

#include "engine/accelerator_core.h"

namespace mantissa {
namespace {

using Stage = PreparedOptimizerState::Stage;

struct NamedParameter {
    std::string name;
    torch::Tensor parameter;
};

// Every parameter once: the optimizers' by place, then those of the models that no optimizer has.
std::vector<NamedParameter> parameters_of(const AcceleratorCore& core) {
    std::vector<NamedParameter> all;
    std::unordered_set<const c10::TensorImpl*> seen;
    const auto add = [&](std::string name, const torch::Tensor& parameter) {
        if (seen.insert(parameter.unsafeGetTensorImpl()).second) all.push_back({std::move(name), parameter});
    };
    for (std::size_t i = 0; i < core.optimizers().size(); ++i) {
        const auto& groups = core.optimizers()[i]->core->groups();
        for (std::size_t group = 0; group < groups.size(); ++group) {
            for (std::size_t index = 0; index < groups[group].parameters.size(); ++index) {
                add("grad." + std::to_string(i) + "." + std::to_string(group) + "." + std::to_string(index),
                    groups[group].parameters[index]);
            }
        }
    }
    for (std::size_t i = 0; i < core.models().size(); ++i) {
        for (const auto& entry : core.models()[i]->module->named_parameters()) {
            add("grad.model." + std::to_string(i) + "." + entry.key(), entry.value());
        }
    }
    return all;
}

std::string optimizer_prefix(std::size_t index) { return "optimizer." + std::to_string(index) + "."; }
std::string saved_name(std::size_t model, std::size_t buffer) {
    return "saved." + std::to_string(model) + "." + std::to_string(buffer);
}
std::string loss_name(std::size_t index) { return "loss." + std::to_string(index); }

std::vector<FactPlace> places_of(PreparedOptimizerState& optimizer) {
    return {{"found_inf", &optimizer.found_inf}, {"skipped", &optimizer.skipped},
            {"holds_used_gradients", &optimizer.holds_used_gradients}, {"sum_of_squares", &optimizer.sum_of_squares}};
}

std::vector<FactPlace> places_of(StepFacts& facts) {
    return {{"step", &facts.step}, {"losses", &facts.losses}, {"loss", &facts.loss}, {"nonfinite_loss", &facts.nonfinite_loss},
            {"learning_rate", &facts.learning_rate}, {"grad_norm", &facts.grad_norm}, {"nonfinite_grads", &facts.nonfinite_grads},
            {"found_inf", &facts.found_inf}, {"skipped", &facts.skipped}, {"scale_collapsed", &facts.scale_collapsed},
            {"scale_alarm", &facts.scale_alarm}};
}

template <typename T>
std::vector<T> list_of(const std::optional<T>& value) {
    return value ? std::vector<T>{*value} : std::vector<T>{};
}
template <typename T>
std::optional<T> optional_of(const StateBundle& bundle, const char* name) {
    const auto& list = bundle.fact<std::vector<T>>(name);
    return list.empty() ? std::nullopt : std::optional<T>(list.front());
}

[[noreturn]] void refuse_state(const std::string& what, const char* hint) {
    throw EngineError({ErrorCode::BadPlan, "the checkpoint's open window doesn't fit: " + what, hint});
}

void check_shape(const StateBundle& bundle, const std::string& name, const torch::Tensor& place, std::size_t& known) {
    const torch::Tensor* saved = bundle.tensor(name);
    if (saved == nullptr) return;
    ++known;
    if (saved->sizes() != place.sizes() || saved->scalar_type() != place.scalar_type()) {
        refuse_state(name + " is " + readable_type(*saved) + ", here it is " + readable_type(place), "prepare the objects that were saved");
    }
}

}  // namespace

std::vector<FactPlace> AcceleratorCore::progress_places() {
    return {{"micro_step", &window.micro_step}, {"window_size", &window.size}, {"attempts", &window.attempts},
            {"applied", &window.applied}, {"attempt_open", &window.is_attempt_open}, {"has_backward", &window.has_backward},
            {"is_due", &window.is_due}, {"was_held", &window.was_held}, {"facts_open", &m_facts_open}};
}

StateBundle AcceleratorCore::progress() const {
    auto& self = const_cast<AcceleratorCore&>(*this);  // the places are only read here
    StateBundle bundle;
    put_facts(bundle, "", self.progress_places());
    put_facts(bundle, "last.", places_of(self.facts));
    bundle.facts["last.loss_scale"] = list_of(facts.loss_scale);
    bundle.facts["last.growth_tracker"] = list_of(facts.growth_tracker);
    bundle.facts["last.loss_scale_after"] = list_of(facts.loss_scale_after);
    bundle.facts["last.backoffs_left"] = list_of(facts.backoffs_left);
    bundle.facts["end_of_data"] = loaded_at_end_of_data || active_loaders->end_of_data();
    const std::size_t losses = window.is_attempt_open ? window.losses.size() : 0;
    bundle.facts["losses"] = static_cast<std::int64_t>(losses);
    for (std::size_t i = 0; i < optimizers().size(); ++i) {
        PreparedOptimizerState& optimizer = *optimizers()[i];
        put_facts(bundle, optimizer_prefix(i), places_of(optimizer));
        bundle.facts[optimizer_prefix(i) + "stage"] = static_cast<std::int64_t>(optimizer.stage);
    }
    for (const auto& [name, parameter] : parameters_of(*this)) {
        if (parameter.grad().defined()) bundle.tensors.emplace_back(name, parameter.grad());
    }
    for (std::size_t i = 0; i < losses; ++i) bundle.tensors.emplace_back(loss_name(i), window.losses[i]);
    for (std::size_t i = 0; i < models().size(); ++i) {
        const PreparedModelState& model = *models()[i];
        for (std::size_t j = 0; model.is_saved && j < model.saved.size(); ++j) {
            bundle.tensors.emplace_back(saved_name(i, j), model.saved[j]);
        }
    }
    return bundle;
}

void AcceleratorCore::check_progress(const Checkpoint& checkpoint) const {
    auto& self = const_cast<AcceleratorCore&>(*this);  // the places are only read here
    const StateBundle& bundle = checkpoint.accelerator;
    check_facts(bundle, "", self.progress_places());
    check_facts(bundle, "last.", places_of(self.facts));
    for (const char* name : {"last.loss_scale", "last.loss_scale_after"}) (void)bundle.fact<std::vector<double>>(name);
    for (const char* name : {"last.growth_tracker", "last.backoffs_left"}) (void)bundle.fact<std::vector<std::int64_t>>(name);
    (void)bundle.fact<std::int64_t>("next_number");
    (void)bundle.fact<bool>("end_of_data");
    const bool is_open = bundle.fact<bool>("attempt_open");
    if (is_open && checkpoint.gradient_accumulation_steps != accumulation_steps) {
        refuse_state("it was saved in the middle of a window of " + std::to_string(checkpoint.gradient_accumulation_steps) +
                   " micro-batches, this Accelerator accumulates " + std::to_string(accumulation_steps),
               "go on with the same gradient_accumulation_steps, or from a checkpoint between two steps");
    }
    for (std::size_t i = 0; i < optimizers().size(); ++i) {
        check_facts(bundle, optimizer_prefix(i), places_of(*optimizers()[i]));
        const auto stage = bundle.fact<std::int64_t>(optimizer_prefix(i) + "stage");
        if (stage < 0 || stage > static_cast<std::int64_t>(Stage::Stepped)) refuse_state("an optimizer's stage is unknown", "");
    }
    std::size_t known = 0;
    for (const auto& [name, parameter] : parameters_of(*this)) check_shape(bundle, name, parameter, known);
    for (std::size_t i = 0; i < models().size(); ++i) {
        const auto& buffers = models()[i]->buffers;
        std::size_t saved = 0;
        for (std::size_t j = 0; j < buffers.size(); ++j) check_shape(bundle, saved_name(i, j), buffers[j], saved);
        if (saved != 0 && saved != buffers.size()) refuse_state("not all buffers of model " + std::to_string(i) + " are there", "");
        known += saved;
    }
    // A rank that wasn't there when it was saved has no open window.
    const auto losses = bundle.tensors.empty() ? 0 : bundle.fact<std::int64_t>("losses");
    for (std::int64_t i = 0; i < losses; ++i) {
        const torch::Tensor* loss = bundle.tensor(loss_name(static_cast<std::size_t>(i)));
        if (loss == nullptr || loss->numel() != 1) refuse_state(loss_name(static_cast<std::size_t>(i)) + " is missing", "");
    }
    if (known + static_cast<std::size_t>(losses) != bundle.tensors.size()) {
        refuse_state("it holds " + std::to_string(bundle.tensors.size()) + " tensors, of which " +
                   std::to_string(known + static_cast<std::size_t>(losses)) + " have a place here",
               "prepare the objects that were saved");
    }
}

void AcceleratorCore::load_progress(const Checkpoint& checkpoint, std::vector<std::string>& notices) {
    const torch::NoGradGuard no_grad;
    const StateBundle& bundle = checkpoint.accelerator;
    take_facts(bundle, "", progress_places());
    take_facts(bundle, "last.", places_of(facts));
    loaded_at_end_of_data = bundle.fact<bool>("end_of_data");
    facts.loss_scale = optional_of<double>(bundle, "last.loss_scale");
    facts.growth_tracker = optional_of<std::int64_t>(bundle, "last.growth_tracker");
    facts.loss_scale_after = optional_of<double>(bundle, "last.loss_scale_after");
    facts.backoffs_left = optional_of<std::int64_t>(bundle, "last.backoffs_left");
    sync_gradients = window.is_due && m_held == 0;
    if (checkpoint.gradient_accumulation_steps != accumulation_steps) {
        window.micro_step = window.size = 0;
        notices.push_back("The checkpoint accumulated " + std::to_string(checkpoint.gradient_accumulation_steps) +
                          " micro-batches, this Accelerator accumulates " + std::to_string(accumulation_steps) + ".");
    }
    // Gradients of an open window carry the scale that they were made with.
    const double saved_scale = checkpoint.loss_scale ? checkpoint.loss_scale->scale : 1.0;
    const double factor = (scaler ? scaler->schedule().scale() : 1.0) / saved_scale;
    for (std::size_t i = 0; i < optimizers().size(); ++i) {
        PreparedOptimizerState& optimizer = *optimizers()[i];
        take_facts(bundle, optimizer_prefix(i), places_of(optimizer));
        optimizer.stage = static_cast<Stage>(bundle.fact<std::int64_t>(optimizer_prefix(i) + "stage"));
    }
    for (auto& [name, parameter] : parameters_of(*this)) {
        const torch::Tensor* saved = bundle.tensor(name);
        parameter.mutable_grad() = saved ? torch::empty_like(parameter).copy_(*saved) : torch::Tensor();
    }
    m_unscaled.clear();
    for (const auto& optimizer : optimizers()) {
        const auto gradients = optimizer->core->gradients();
        if (optimizer->stage != Stage::Ready && optimizers().size() > 1) {
            for (const auto& gradient : gradients) m_unscaled.insert(gradient.unsafeGetTensorImpl());
        }
        const bool is_scaled = window.is_attempt_open && optimizer->stage == Stage::Ready && !optimizer->holds_used_gradients;
        if (factor != 1.0 && is_scaled && !gradients.empty()) {
            at::_foreach_mul_(gradients, factor);
        }
    }
    window.losses.clear();
    const auto losses = bundle.tensors.empty() ? 0 : bundle.fact<std::int64_t>("losses");
    for (std::int64_t i = 0; i < losses; ++i) window.losses.push_back(bundle.tensor(loss_name(static_cast<std::size_t>(i)))->to(device));
    for (std::size_t i = 0; i < models().size(); ++i) {
        PreparedModelState& model = *models()[i];
        model.is_saved = !model.buffers.empty() && bundle.tensor(saved_name(i, 0)) != nullptr;
        model.saved.clear();
        for (std::size_t j = 0; model.is_saved && j < model.buffers.size(); ++j) {
            model.saved.push_back(torch::empty_like(model.buffers[j]).copy_(*bundle.tensor(saved_name(i, j))));
        }
    }
}

}  // namespace mantissa
