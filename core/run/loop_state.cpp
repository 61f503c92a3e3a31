#include "run/loop_state.h"

#include <algorithm>

#include "engine/engine_error.h"

namespace mantissa {
namespace {

void refuse_other(const std::string& saved, const std::string& now, const char* what, const char* hint) {
    if (saved == now) return;
    throw EngineError({ErrorCode::BadPlan,
                       std::string(what) + " not what the checkpoint was trained on (SHA-256 " + saved.substr(0, 12) +
                           "…, here " + now.substr(0, 12) + "…)",
                       hint});
}

void save_skips(const SkipClassifier::State& skips, StateBundle& bundle) {
    std::vector<std::int64_t> recent;
    for (const bool fault : skips.recent) recent.push_back(fault ? 1 : 0);
    bundle.facts["skips.recent"] = std::move(recent);
    bundle.facts["skips.attempts"] = skips.attempts;
    bundle.facts["skips.applied_once"] = skips.applied_once;
    bundle.facts["skips.in_row"] = skips.skips_in_row;
    bundle.facts["skips.faults_in_row"] = skips.faults_in_row;
    bundle.facts["skips.longest_fault_row"] = skips.longest_fault_row;
    bundle.facts["skips.faults_in_window"] = skips.faults_in_window;
    bundle.facts["skips.was_persistent"] = skips.was_persistent;
}

SkipClassifier::State read_skips(const StateBundle& bundle) {
    SkipClassifier::State skips;
    const auto& recent = bundle.fact<std::vector<std::int64_t>>("skips.recent");
    if (recent.size() != skips.recent.size())
        throw EngineError({ErrorCode::InputOutput,
                           "the checkpoint remembers " + std::to_string(recent.size()) + " attempts for its skips instead of " +
                               std::to_string(skips.recent.size()),
                           "it is damaged: go on from an earlier one"});
    std::transform(recent.begin(), recent.end(), skips.recent.begin(), [](std::int64_t fault) { return fault != 0; });
    skips.attempts = bundle.fact<std::int64_t>("skips.attempts");
    skips.applied_once = bundle.fact<bool>("skips.applied_once");
    skips.skips_in_row = bundle.fact<std::int64_t>("skips.in_row");
    skips.faults_in_row = bundle.fact<std::int64_t>("skips.faults_in_row");
    skips.longest_fault_row = bundle.fact<std::int64_t>("skips.longest_fault_row");
    skips.faults_in_window = bundle.fact<std::int64_t>("skips.faults_in_window");
    skips.was_persistent = bundle.fact<bool>("skips.was_persistent");
    return skips;
}

}  // namespace

StateBundle SavedLoop::state() const {
    StateBundle bundle;
    bundle.facts["step"] = m_state.step;
    bundle.facts["applied"] = m_state.applied;
    bundle.facts["evaluated_at"] = m_state.evaluated_at;
    bundle.facts["poisoned"] = m_state.poisoned;
    bundle.facts["data_hash"] = m_state.data_hash;
    bundle.facts["training_split_hash"] = m_state.training_split_hash;
    save_skips(m_state.skips.state(), bundle);
    return bundle;
}

void SavedLoop::load_state(const StateBundle& bundle) {
    refuse_other(bundle.fact<std::string>("data_hash"), m_state.data_hash, "the content of the data is",
                 "go on with the same data, or start a new run with the saved weights");
    refuse_other(bundle.fact<std::string>("training_split_hash"), m_state.training_split_hash, "the samples that train are",
                 "leave dataset.validation and dataset.split_seed as they were");
    LoopState read = m_state;
    read.step = bundle.fact<std::int64_t>("step");
    read.applied = bundle.fact<std::int64_t>("applied");
    read.evaluated_at = bundle.fact<std::int64_t>("evaluated_at");
    read.poisoned = bundle.fact<bool>("poisoned");
    read.skips.restore(read_skips(bundle));
    m_state = std::move(read);
}

}  // namespace mantissa
