#include "engine/saved_states.h"

#include <algorithm>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/version.h"
#include "engine/accelerator_core.h"
#include "engine/model_files.h"
#include "engine/process_group.h"
#include "engine/random_states.h"
#include "plan/resume_rule.h"

namespace mantissa {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw EngineError({ErrorCode::BadPlan, "the checkpoint doesn't fit this Accelerator: " + what,
                       "prepare the same objects in the same order, then load"});
}

void check_count(const char* what, std::size_t saved, std::size_t here) {
    if (saved != here) {
        refuse("it holds " + std::to_string(saved) + " " + what + "(s), " + std::to_string(here) + " are prepared or registered here");
    }
}

// Says which of several objects it was.
template <typename Call>
void named(const std::string& subject, Call&& call) {
    try {
        call();
    } catch (const EngineError& problem) {
        Error error = problem.error();
        error.message = subject + ": " + error.message;
        throw EngineError(error);
    } catch (const std::exception& problem) {
        throw EngineError({ErrorCode::BadPlan, subject + ": " + problem.what(), ""});
    }
}

StateBundle copy_of(const StateBundle& bundle) {
    StateBundle copy{bundle.facts, {}};
    for (const auto& [name, tensor] : bundle.tensors) copy.tensors.emplace_back(name, tensor.clone());
    return copy;
}

// Objects whose own load_state() may refuse: all of them take the new state, or all have the former one.
void load_or_put_back(const std::vector<std::shared_ptr<Stateful>>& objects, const std::vector<const StateBundle*>& bundles,
                      const std::vector<std::string>& names) {
    std::vector<StateBundle> former;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        former.push_back(copy_of(objects[i]->state()));
        try {
            named(names[i], [&] { objects[i]->load_state(*bundles[i]); });
        } catch (...) {
            for (std::size_t back = i; back-- > 0;) objects[back]->load_state(former[back]);
            throw;
        }
    }
}

void take_scale(AcceleratorCore& core, const Checkpoint& checkpoint, std::vector<std::string>& notices) {
    const std::string saved = to_string(checkpoint.mixed_precision), now = to_string(core.precision);
    if (core.scaler && checkpoint.loss_scale) {
        core.scaler->restore({checkpoint.loss_scale->scale, checkpoint.loss_scale->growth_tracker});
        return;
    }
    switch (resumed_scale(checkpoint.mixed_precision, core.precision)) {
        case ResumedScale::None: break;
        case ResumedScale::TakenUp:  // one of the two has its scaler switched off
        case ResumedScale::StartsAnew:
            if (core.scaler) {
                core.scaler->restore({core.options.loss_scale.initial, 0});
                notices.push_back("The checkpoint was saved in mode " + saved + " without a loss scale: fp16 starts with " +
                                  readable_scale(core.scaler->schedule().scale()) + " and looks for its place anew.");
                break;
            }
            [[fallthrough]];
        case ResumedScale::Dropped:
            if (checkpoint.loss_scale) {
                notices.push_back("The loss scale of the checkpoint, " + readable_scale(checkpoint.loss_scale->scale) +
                                  " with growth tracker " + std::to_string(checkpoint.loss_scale->growth_tracker) +
                                  ", is dropped: mode " + now + " goes on without one.");
            }
    }
    if (checkpoint.mixed_precision != core.precision && notices.empty()) {
        notices.push_back("The checkpoint was saved in mode " + saved + " and goes on in mode " + now + "; neither has a loss scale.");
    }
}

void tell_settings(const char* what, const StateBundle& before, const StateBundle& saved, std::vector<std::string>& notices) {
    for (const auto& [name, fact] : before.facts) {
        const bool is_setting = name.starts_with("setting.") || name.starts_with("option.");
        const auto found = saved.facts.find(name);
        if (is_setting && found != saved.facts.end() && found->second != fact && name != "setting.t_current" && name != "setting.t_i") {
            notices.push_back(std::string("The ") + what + "'s " + name.substr(name.find('.') + 1) +
                              " is the checkpoint's, not the one that it was made with.");
        }
    }
}

}  // namespace

void HookHandle::remove() {
    if (const auto hooks = m_hooks.lock()) {
        std::erase_if(*hooks, [this](const auto& one) { return one.first == m_id; });
    }
}

HookHandle StateHooks::add(StateHook hook) {
    if (!hook) throw EngineError({ErrorCode::BadPlan, "an empty hook was given", "give a function of the checkpoint's folder"});
    m_hooks->emplace_back(m_next, std::move(hook));
    return {m_hooks, m_next++};
}

void StateHooks::call(const std::filesystem::path& folder) const {
    const auto hooks = *m_hooks;  // a hook may remove itself
    for (const auto& [id, hook] : hooks) hook(folder);
}

Checkpoint gather_state(const AcceleratorCore& core) {
    Checkpoint checkpoint;
    checkpoint.program_version = version;
    checkpoint.time_ns = now_ns();
    checkpoint.step = core.attempts();
    checkpoint.applied_steps = core.applied();
    checkpoint.epoch = 0;
    checkpoint.mixed_precision = core.precision;
    if (core.scaler) {
        const auto state = core.scaler->schedule().state();
        checkpoint.loss_scale = SavedScale{state.scale, state.growth_tracker};
    }
    checkpoint.gradient_accumulation_steps = core.accumulation_steps;
    checkpoint.processes = core.options.processes ? core.options.processes->size() : 1;
    for (const auto& model : core.models()) checkpoint.models.push_back(weights_of(*model->module));
    for (const auto& optimizer : core.optimizers()) checkpoint.optimizers.push_back(optimizer->core->state());
    for (const auto& scheduler : core.schedulers()) checkpoint.schedulers.push_back(scheduler->state());
    for (const auto& loader : core.loaders) checkpoint.loaders.push_back(loader->state());
    if (!checkpoint.loaders.empty()) checkpoint.epoch = checkpoint.loaders.front().fact<std::int64_t>("epoch");
    for (const auto& object : core.saved_states.objects) checkpoint.objects.push_back(object->state());
    checkpoint.accelerator = core.progress();
    checkpoint.accelerator.facts["next_number"] = core.saved_states.next_number;
    checkpoint.random_states = random_states();
    return checkpoint;
}

void check_state(const AcceleratorCore& core, const Checkpoint& checkpoint) {
    check_count("model", checkpoint.models.size(), core.models().size());
    check_count("optimizer", checkpoint.optimizers.size(), core.optimizers().size());
    check_count("scheduler", checkpoint.schedulers.size(), core.schedulers().size());
    check_count("loader", checkpoint.loaders.size(), core.loaders.size());
    check_count("registered object", checkpoint.objects.size(), core.saved_states.objects.size());
    for (std::size_t i = 0; i < core.models().size(); ++i) {
        named("model " + std::to_string(i), [&] { check_fits(*core.models()[i]->module, checkpoint.models[i]); });
    }
    for (std::size_t i = 0; i < core.optimizers().size(); ++i) {
        named("optimizer " + std::to_string(i), [&] { core.optimizers()[i]->core->refuse_misfit(checkpoint.optimizers[i]); });
    }
    for (std::size_t i = 0; i < core.schedulers().size(); ++i) {
        named("scheduler " + std::to_string(i), [&] { core.schedulers()[i]->refuse_misfit(checkpoint.schedulers[i]); });
    }
    core.check_progress(checkpoint);
    check_random_states(checkpoint.random_states);
}

void apply_state(AcceleratorCore& core, const Checkpoint& checkpoint, std::vector<std::string>& notices) {
    std::vector<std::shared_ptr<Stateful>> objects = core.saved_states.objects;
    std::vector<const StateBundle*> bundles;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        bundles.push_back(&checkpoint.objects[i]);
        names.push_back("registered object " + std::to_string(i));
    }
    for (std::size_t i = 0; i < core.loaders.size(); ++i) {
        objects.push_back(core.loaders[i]);
        bundles.push_back(&checkpoint.loaders[i]);
        names.push_back("loader " + std::to_string(i));
    }
    load_or_put_back(objects, bundles, names);
    take_scale(core, checkpoint, notices);
    for (std::size_t i = 0; i < core.models().size(); ++i) copy_into(*core.models()[i]->module, checkpoint.models[i]);
    for (std::size_t i = 0; i < core.optimizers().size(); ++i) {
        OptimizerCore& optimizer = *core.optimizers()[i]->core;
        tell_settings(optimizer.name(), optimizer.state(), checkpoint.optimizers[i], notices);
        optimizer.load_state(checkpoint.optimizers[i]);
    }
    for (std::size_t i = 0; i < core.schedulers().size(); ++i) {
        SchedulerCore& scheduler = *core.schedulers()[i];
        tell_settings(scheduler.name(), scheduler.state(), checkpoint.schedulers[i], notices);
        scheduler.load_state(checkpoint.schedulers[i]);
    }
    core.load_progress(checkpoint, notices);
    load_random_states(checkpoint.random_states, notices);
}

}  // namespace mantissa
