#include "engine/sampler.h"

#include <mutex>
#include <numeric>

#include "engine/engine_error.h"
#include "engine/process_group.h"

namespace mantissa {
namespace {

at::Generator seeded(std::int64_t seed) {
    at::Generator generator = at::detail::createCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(static_cast<std::uint64_t>(seed));
    return generator;
}

Indices permutation(std::int64_t length, const at::Generator& generator) {
    const torch::Tensor order = torch::randperm(length, generator, torch::TensorOptions().dtype(at::kLong));
    const auto* first = order.const_data_ptr<std::int64_t>();
    return {first, first + length};
}

void refuse_state(const torch::Tensor* state) {
    if (state != nullptr && state->scalar_type() != at::kByte) {
        throw EngineError({ErrorCode::BadPlan, "the saved state of a loader's generator is no row of bytes",
                           "the checkpoint is damaged: use the one before"});
    }
}

bool has_several(const std::shared_ptr<ProcessGroup>& processes) { return processes && processes->size() > 1; }

}  // namespace

std::int64_t draw_seed(const std::optional<at::Generator>& generator) {
    return at::empty({}, at::kLong).random_(generator).item<std::int64_t>();
}

Indices SequentialSampler::order(std::int64_t) {
    Indices order(static_cast<std::size_t>(m_length));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return order;
}

void RandomSampler::prepare(const Division& division) {
    if (!has_several(division.processes)) return;
    m_processes = division.processes;
    if (!m_generator) m_generator = seeded(draw_seed());
}

void RandomSampler::synchronize() {
    if (!m_processes) return;
    torch::Tensor state = m_generator->get_state();
    m_processes->broadcast(state, 0);
    m_generator->set_state(state);
}

Indices RandomSampler::order(std::int64_t) {
    if (m_length == 0) return {};
    if (m_generator) {
        m_pass_state = m_generator->get_state();
        return permutation(m_length, *m_generator);
    }
    m_pass_seed = draw_seed();
    return permutation(m_length, seeded(m_pass_seed));
}

Indices RandomSampler::order_again(std::int64_t) {
    if (m_length == 0) return {};
    if (!m_generator) return permutation(m_length, seeded(m_pass_seed));
    if (m_pass_state.defined()) m_generator->set_state(m_pass_state);
    return permutation(m_length, *m_generator);
}

void RandomSampler::finish() {
    // Python's sampler draws a second permutation at the end, and takes nothing of it.
    if (m_generator && m_length > 0) static_cast<void>(permutation(m_length, *m_generator));
}

StateBundle RandomSampler::state() const {
    StateBundle bundle;
    bundle.facts["pass_seed"] = m_pass_seed;
    if (m_generator) bundle.tensors.emplace_back("generator", m_generator->get_state());
    if (m_pass_state.defined()) bundle.tensors.emplace_back("pass_generator", m_pass_state);
    return bundle;
}

void RandomSampler::load_state(const StateBundle& bundle) {
    const auto seed = bundle.fact<std::int64_t>("pass_seed");
    const torch::Tensor* now = bundle.tensor("generator");
    const torch::Tensor* pass = bundle.tensor("pass_generator");
    refuse_state(now);
    refuse_state(pass);
    if (m_generator.has_value() != (now != nullptr)) {
        throw EngineError({ErrorCode::BadPlan,
                           std::string("the saved loader shuffled ") + (now != nullptr ? "with" : "without") +
                               " a generator of its own, this one " + (now != nullptr ? "without" : "with"),
                           "give both the same options, and the same number of processes"});
    }
    if (now != nullptr) m_generator->set_state(now->clone());
    m_pass_seed = seed;
    m_pass_state = pass != nullptr ? pass->clone() : torch::Tensor();
}

void SeedableRandomSampler::prepare(const Division& division) {
    if (m_seed) return;
    m_seed = static_cast<std::int64_t>(at::globalContext().defaultGenerator(at::kCPU).current_seed());
    if (has_several(division.processes)) {
        torch::Tensor seed = torch::tensor({*m_seed}, at::kLong);
        division.processes->broadcast(seed, 0);
        m_seed = seed.item<std::int64_t>();
    }
}

Indices SeedableRandomSampler::order(std::int64_t epoch) {
    if (!m_seed) prepare({});
    return permutation(m_length, seeded(*m_seed + epoch));
}

StateBundle SeedableRandomSampler::state() const {
    StateBundle bundle;
    if (m_seed) bundle.facts["seed"] = *m_seed;
    return bundle;
}

void SeedableRandomSampler::load_state(const StateBundle& bundle) { m_seed = bundle.fact<std::int64_t>("seed"); }

}  // namespace mantissa
