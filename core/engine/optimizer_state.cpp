// How an optimizer's state becomes a bundle and comes back.
#include <cmath>

#include "engine/engine_error.h"
#include "engine/optimizer.h"

namespace mantissa {
namespace {

[[noreturn]] void refuse(const OptimizerCore& optimizer, const std::string& what) {
    throw EngineError({ErrorCode::BadPlan, std::string("the saved state doesn't fit the optimizer ") + optimizer.name() + ": " + what,
                       "make the same optimizer over the same parameters, in the same order, then load"});
}

std::vector<FactPlace> group_places(ParameterGroup& group) {
    return {{"learning_rate", &group.learning_rate}, {"initial_learning_rate", &group.initial_learning_rate},
            {"momentum", &group.momentum}, {"weight_decay", &group.weight_decay}};
}

std::string group_prefix(std::size_t group) { return "group." + std::to_string(group) + "."; }

std::string tensor_name(std::size_t group, std::size_t index, const char* kept) {
    return std::to_string(group) + "." + std::to_string(index) + "." + kept;
}

void put_number(StateBundle& bundle, const std::string& name, double value) {
    Fact& fact = bundle.facts.try_emplace(name, std::vector<double>{}).first->second;
    std::get<std::vector<double>>(fact).push_back(value);
}

std::string shown(const torch::Tensor& tensor) {
    std::string text = c10::toString(tensor.scalar_type());
    text += " [";
    for (std::int64_t i = 0; i < tensor.dim(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(tensor.size(i));
    }
    return text + "]";
}

}  // namespace

StateBundle OptimizerCore::state() const {
    auto& self = const_cast<OptimizerCore&>(*this);  // the places are only read here
    StateBundle bundle;
    bundle.facts["name"] = std::string(name());
    bundle.facts["groups"] = static_cast<std::int64_t>(m_groups.size());
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        const std::size_t count = m_groups[group].parameters.size();
        bundle.facts[group_prefix(group) + "parameters"] = static_cast<std::int64_t>(count);
        put_facts(bundle, group_prefix(group), group_places(self.m_groups[group]));
        put_facts(bundle, group_prefix(group) + "option.", self.options(group));
        for (std::size_t index = 0; index < count; ++index) {
            for (const Kept& one : self.kept(group, index)) {
                if (const auto* tensor = std::get_if<torch::Tensor*>(&one.place)) {
                    if ((*tensor)->defined()) bundle.tensors.emplace_back(tensor_name(group, index, one.name), **tensor);
                } else if (const auto* number = std::get_if<double*>(&one.place)) {
                    put_number(bundle, group_prefix(group) + one.name, **number);
                } else {
                    put_number(bundle, group_prefix(group) + one.name, *std::get<float*>(one.place));
                }
            }
        }
    }
    return bundle;
}

void OptimizerCore::refuse_misfit(const StateBundle& bundle) const {
    auto& self = const_cast<OptimizerCore&>(*this);  // the places are only read here
    const auto& saved_name = bundle.fact<std::string>("name");
    if (saved_name != name()) refuse(*this, "it is that of " + saved_name);
    const auto groups = bundle.fact<std::int64_t>("groups");
    if (groups != static_cast<std::int64_t>(m_groups.size())) {
        refuse(*this, "it has " + std::to_string(groups) + " parameter group(s), the optimizer " + std::to_string(m_groups.size()));
    }
    std::size_t known = 0;
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        const auto& parameters = m_groups[group].parameters;
        const auto count = bundle.fact<std::int64_t>(group_prefix(group) + "parameters");
        if (count != static_cast<std::int64_t>(parameters.size())) {
            refuse(*this, "its group " + std::to_string(group) + " has " + std::to_string(count) +
                              " parameter(s), the optimizer's " + std::to_string(parameters.size()));
        }
        check_facts(bundle, group_prefix(group), group_places(self.m_groups[group]));
        check_facts(bundle, group_prefix(group) + "option.", self.options(group));
        for (std::size_t index = 0; index < parameters.size(); ++index) {
            for (const Kept& one : self.kept(group, index)) {
                if (!std::holds_alternative<torch::Tensor*>(one.place)) {
                    const auto& numbers = bundle.fact<std::vector<double>>(group_prefix(group) + one.name);
                    if (numbers.size() != parameters.size()) {
                        refuse(*this, group_prefix(group) + one.name + " has " + std::to_string(numbers.size()) +
                                          " value(s) for " + std::to_string(parameters.size()) + " parameter(s)");
                    }
                } else if (const auto* saved = bundle.tensor(tensor_name(group, index, one.name))) {
                    ++known;
                    if (saved->sizes() != parameters[index].sizes() || saved->scalar_type() != parameters[index].scalar_type()) {
                        refuse(*this, tensor_name(group, index, one.name) + " is " + shown(*saved) + ", the parameter " +
                                          shown(parameters[index]));
                    }
                }
            }
        }
    }
    if (known != bundle.tensors.size()) {
        refuse(*this, "it holds " + std::to_string(bundle.tensors.size()) + " tensors, of which this optimizer knows " +
                          std::to_string(known));
    }
}

void OptimizerCore::load_state(const StateBundle& bundle) {
    refuse_misfit(bundle);
    const torch::NoGradGuard no_grad;
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        take_facts(bundle, group_prefix(group), group_places(m_groups[group]));
        take_facts(bundle, group_prefix(group) + "option.", options(group));
        for (std::size_t index = 0; index < m_groups[group].parameters.size(); ++index) {
            for (const Kept& one : kept(group, index)) {
                if (auto* const* tensor = std::get_if<torch::Tensor*>(&one.place)) {
                    const auto* saved = bundle.tensor(tensor_name(group, index, one.name));
                    // Strides and device are the parameter's, as if the rule had made it here.
                    **tensor = saved ? torch::empty_like(m_groups[group].parameters[index]).copy_(*saved) : torch::Tensor();
                    continue;
                }
                const double value = bundle.fact<std::vector<double>>(group_prefix(group) + one.name)[index];
                if (auto* const* number = std::get_if<double*>(&one.place)) {
                    **number = value;
                } else {
                    *std::get<float*>(one.place) = static_cast<float>(value);
                }
            }
        }
    }
}

}  // namespace mantissa
