#include "run/forward_look.h"

#include "run/meter_watch.h"

namespace mantissa {
namespace {

void load_own(const NamedTensors& states) {
    std::vector<std::string> notices;  // this process's own states fit it
    load_random_states(states, notices);
}

}  // namespace

LookAgain::LookAgain(const Model& model) : m_buffers(model.buffers()), m_random(random_states()) {
    for (const torch::Tensor& buffer : m_buffers) m_saved.push_back(buffer.clone());
}

LookAgain::LookAgain(const Model& model, const RandomNote& of_pass) : LookAgain(model) {
    load_own(of_pass.states());
}

void LookAgain::put_back() {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < m_saved.size(); ++i) m_buffers[i].copy_(m_saved[i]);
    load_own(m_random);
}

ForwardLook look_forward(RunParts& parts, const Batch& batch, const RandomNote& random) {
    const torch::NoGradGuard no_grad;
    const LookAgain again(parts.bare_model(), random);
    ForwardLook look;
    MeterWatch watch(look.meter);
    const WatchScope scope(watch);
    const AutocastScope autocast = parts.accelerator.autocast();
    // The bare model: what one process looks at must not wait for the others.
    look.output = to_fp32_output(parts.bare_model().forward(batch.features));
    return look;
}

}  // namespace mantissa
