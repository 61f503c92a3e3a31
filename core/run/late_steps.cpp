#include "run/late_steps.h"

#include "base/assert.h"

namespace mantissa {

std::vector<LateSteps::Step> LateSteps::take(Accelerator& accelerator, bool all) {
    std::vector<Step> complete;
    for (SettledStep& settled : accelerator.settle(all)) {
        MANTISSA_ASSERT(!m_steps.empty() && m_steps.front().outcome.facts.step == settled.facts.step);
        Step& step = complete.emplace_back(std::move(m_steps.front()));
        m_steps.pop_front();
        step.outcome.facts = std::move(settled.facts);
        step.outcome.refusal = std::move(settled.refusal);
        step.outcome.step_ns = step.outcome.clock->ns();
        if (!step.outcome.refusal) continue;
        (void)accelerator.settle(true);
        m_steps.clear();
        break;
    }
    return complete;
}

}  // namespace mantissa
