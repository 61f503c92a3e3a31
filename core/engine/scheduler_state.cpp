// How a scheduler's state becomes a bundle and comes back.
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/engine_error.h"
#include "engine/scheduler.h"

namespace mantissa {
namespace {

// Settings that a formula divides by.
constexpr std::array<std::string_view, 7> divisors{"step_size", "t_max", "t_i", "t_mult", "step_size_up", "step_size_down",
                                                   "total_steps"};

[[noreturn]] void refuse(const SchedulerCore& scheduler, const std::string& what) {
    throw EngineError({ErrorCode::BadPlan, std::string("the saved state doesn't fit the scheduler ") + scheduler.name() + ": " + what,
                       "make the same scheduler for the same optimizer, then load"});
}

}  // namespace

StateBundle SchedulerCore::state() const {
    auto& self = const_cast<SchedulerCore&>(*this);  // the places are only read here
    StateBundle bundle;
    bundle.facts["name"] = std::string(name());
    put_facts(bundle, "setting.", self.settings());
    put_facts(bundle, "", {{"last_epoch", &self.m_last_epoch}, {"step_count", &self.m_step_count},
                           {"base_rates", &self.m_base_rates}});
    return bundle;
}

void SchedulerCore::refuse_misfit(const StateBundle& bundle) const {
    auto& self = const_cast<SchedulerCore&>(*this);  // the places are only read here
    const auto& saved_name = bundle.fact<std::string>("name");
    if (saved_name != name()) refuse(*this, "it is that of " + saved_name);
    check_facts(bundle, "setting.", self.settings());
    for (const FactPlace& one : self.settings()) {
        const bool divides = std::find(divisors.begin(), divisors.end(), one.name) != divisors.end();
        if (divides && bundle.fact<std::int64_t>(std::string("setting.") + one.name) < 1) {
            refuse(*this, std::string(one.name) + " is below 1");
        }
    }
    (void)bundle.fact<std::int64_t>("last_epoch");
    (void)bundle.fact<std::int64_t>("step_count");
    const auto rates = bundle.fact<std::vector<double>>("base_rates").size();
    if (rates != m_base_rates.size()) {
        refuse(*this, "it is for " + std::to_string(rates) + " parameter group(s), the optimizer has " +
                          std::to_string(m_base_rates.size()));
    }
}

void SchedulerCore::load_state(const StateBundle& bundle) {
    refuse_misfit(bundle);
    take_facts(bundle, "setting.", settings());
    take_facts(bundle, "", {{"last_epoch", &m_last_epoch}, {"step_count", &m_step_count}, {"base_rates", &m_base_rates}});
    after_load();
}

}  // namespace mantissa
