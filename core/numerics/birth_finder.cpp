#include "numerics/birth_finder.h"

#include <algorithm>
#include <utility>

#include "numerics/birth_code.h"
#include "numerics/birth_story.h"
#include "numerics/op_watch.h"

namespace mantissa {

struct BirthFinder::State {
    OpWatch watch;
    BirthStory story{watch};
};

BirthFinder::BirthFinder() : m_state(std::make_unique<State>()) {}
BirthFinder::~BirthFinder() = default;

void BirthFinder::name(const torch::Tensor& leaf, const std::string& name, const std::string& phase) {
    const std::lock_guard lock(m_state->watch.mutex);
    m_state->watch.name(leaf, name, phase, phase == "buffer" && !is_statistic(name));
}

void BirthFinder::name_tensors_of(const torch::nn::Module& module, const std::optional<std::vector<std::string>>& meant) {
    const std::lock_guard lock(m_state->watch.mutex);
    for (const auto& entry : module.named_parameters()) m_state->watch.name(entry.value(), entry.key(), "parameter", false);
    for (const auto& entry : module.named_buffers()) {
        const bool was_so = !meant || std::find(meant->begin(), meant->end(), entry.key()) != meant->end();
        m_state->watch.name(entry.value(), entry.key(), "buffer", was_so && !is_statistic(entry.key()));
    }
}

void BirthFinder::set_phase(const std::string& phase) {
    const std::lock_guard lock(m_state->watch.mutex);
    m_state->watch.phase = phase;
}

void BirthFinder::set_place(std::function<std::string()> place) {
    const std::lock_guard lock(m_state->watch.mutex);
    m_state->watch.place = std::move(place);
}

void BirthFinder::set_loss_scale(double scale, bool is_probing) {
    const std::lock_guard lock(m_state->watch.mutex);
    m_state->watch.loss_scale = scale;
    m_state->watch.scale_is_probing = is_probing;
}

std::optional<BirthReport> BirthFinder::cause_of(const torch::Tensor& bad) const {
    if (!bad.defined()) return std::nullopt;
    const Unseen unseen;
    const std::lock_guard lock(m_state->watch.mutex);
    return m_state->story.cause_of(m_state->watch.operand(bad, read_tensor(bad)));
}

std::optional<BirthReport> BirthFinder::cause_of_gradients(const torch::nn::Module& module) const {
    for (const torch::Tensor& parameter : module.parameters()) {
        if (auto cause = cause_of(parameter.grad())) return cause;
    }
    return std::nullopt;
}

std::optional<BirthReport> BirthFinder::cause_of_parameters(const torch::nn::Module& module) const {
    for (const torch::Tensor& parameter : module.parameters()) {
        if (auto cause = cause_of(parameter)) return cause;
    }
    return std::nullopt;
}

std::optional<BirthReport> BirthFinder::hidden_overflow() const {
    const std::lock_guard lock(m_state->watch.mutex);
    return m_state->story.hidden_overflow();
}

std::vector<OpReading> BirthFinder::ops() const {
    const std::lock_guard lock(m_state->watch.mutex);
    std::vector<OpReading> readings;
    readings.reserve(m_state->watch.ops.size());
    for (const SeenOp& op : m_state->watch.ops) readings.push_back(op.reading);
    return readings;
}

std::string BirthFinder::callback_error() const {
    const std::lock_guard lock(m_state->watch.mutex);
    return m_state->watch.error;
}

}  // namespace mantissa
