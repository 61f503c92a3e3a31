#include "engine/prepared_objects.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "engine/engine_error.h"
#include "engine/gradient_sync.h"
#include "engine/misuse.h"

namespace mantissa {
namespace {

struct Claims {
    std::mutex mutex;
    std::unordered_map<const void*, const PreparedObjects*> owners;  // protected by mutex; an owner keeps its objects alive
};

// Never destroyed: an Accelerator in static storage may be the last to let go.
Claims& claims() {
    static auto* all = new Claims;  // NOLINT(cppcoreguidelines-owning-memory)
    return *all;
}

template <typename States, typename Object>
auto find_state(const States& states, const Object& object) {
    return std::find_if(states.begin(), states.end(), [&](const auto& one) { return one == object; });
}

}  // namespace

void PreparedObjects::claim(const void* object, const char* what) {
    const std::lock_guard lock(claims().mutex);
    const auto [entry, is_new] = claims().owners.emplace(object, this);
    if (!is_new && entry->second != this) {
        throw EngineError({ErrorCode::BadPlan,
                           std::string(what) + " that another Accelerator of this process has prepared was given to prepare()",
                           "one Accelerator per run prepares everything; free_memory() of the other one lets go of it"});
    }
}

std::shared_ptr<PreparedModelState> PreparedObjects::add(std::shared_ptr<torch::nn::Module> module, const ModelUse& use) {
    const auto known = std::find_if(m_models.begin(), m_models.end(), [&](const auto& one) { return one->module == module; });
    if (known != m_models.end()) {
        (*known)->is_trained = (*known)->is_trained || use.is_trained;
        return *known;
    }
    if (use.is_trained) {
        for (const auto& entry : module->named_parameters()) misuse::refuse_half_weight(entry.value(), entry.key());
        misuse::refuse_half_statistics(*module);
    }
    claim(module.get(), "a model");
    if (use.moves) module->to(use.device);
    auto state = std::make_shared<PreparedModelState>();
    for (const auto& entry : module->named_parameters()) {
        m_parameter_names[entry.value().unsafeGetTensorImpl()] = entry.key();
        state->parameters.push_back(entry.value());
    }
    state->buffers = module->buffers();
    const auto& found = state->parameters.empty() ? state->buffers : state->parameters;
    state->device = use.moves || found.empty() ? use.device : found.front().device();
    state->is_trained = use.is_trained;
    if (processes) {
        make_equal(*processes, *module);
        std::vector<torch::Tensor> trained;
        std::copy_if(state->parameters.begin(), state->parameters.end(), std::back_inserter(trained),
                     [](const torch::Tensor& one) { return one.requires_grad(); });
        if (use.is_trained && !trained.empty()) state->gradients = processes->average_gradients(trained);
    }
    state->module = std::move(module);
    m_models.push_back(state);
    return state;
}

std::shared_ptr<PreparedOptimizerState> PreparedObjects::add(std::shared_ptr<OptimizerCore> optimizer) {
    const auto known =
        std::find_if(m_optimizers.begin(), m_optimizers.end(), [&](const auto& one) { return one->core == optimizer; });
    if (known != m_optimizers.end()) return *known;
    for (const auto& group : optimizer->groups()) {
        for (const auto& parameter : group.parameters) misuse::refuse_half_weight(parameter, name_of(parameter));
    }
    claim(optimizer.get(), "an optimizer");
    auto state = std::make_shared<PreparedOptimizerState>();
    state->core = std::move(optimizer);
    m_optimizers.push_back(state);
    return state;
}

void PreparedObjects::add(const std::shared_ptr<SchedulerCore>& scheduler) {
    if (find_state(m_schedulers, scheduler) != m_schedulers.end()) return;
    claim(scheduler.get(), "a scheduler");
    m_schedulers.push_back(scheduler);
}

void PreparedObjects::clear() {
    {
        const std::lock_guard lock(claims().mutex);
        std::erase_if(claims().owners, [this](const auto& entry) { return entry.second == this; });
    }
    m_models.clear();
    m_optimizers.clear();
    m_schedulers.clear();
    m_parameter_names.clear();
    loaders = {};
}

std::vector<std::shared_ptr<PreparedOptimizerState>> PreparedObjects::optimizers_of(const OptimizerCore* core) const {
    std::vector<std::shared_ptr<PreparedOptimizerState>> bound;
    std::copy_if(m_optimizers.begin(), m_optimizers.end(), std::back_inserter(bound),
                 [core](const auto& one) { return one->core.get() == core; });
    return bound.empty() ? m_optimizers : bound;
}

std::string PreparedObjects::name_of(const torch::Tensor& parameter) const {
    const auto found = m_parameter_names.find(parameter.unsafeGetTensorImpl());
    return found == m_parameter_names.end() ? "a parameter of no prepared model" : found->second;
}

}  // namespace mantissa
