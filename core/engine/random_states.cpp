#include "engine/random_states.h"

#include <algorithm>
#include <mutex>

#include "engine/engine_error.h"

namespace mantissa {
namespace {

struct NamedGenerator {
    std::string name;
    at::Generator generator;
};

std::vector<NamedGenerator> generators() {
    std::vector<NamedGenerator> all{{"cpu", at::globalContext().defaultGenerator(at::kCPU)}};
    const auto devices = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
    for (int i = 0; i < static_cast<int>(devices); ++i) {
        const torch::Device device(torch::kCUDA, static_cast<c10::DeviceIndex>(i));
        all.push_back({"cuda." + std::to_string(i), at::globalContext().defaultGenerator(device)});
    }
    return all;
}

torch::Tensor state_of(at::Generator& generator) {
    const std::lock_guard lock(generator.mutex());
    return generator.get_state();
}

const torch::Tensor* find(const NamedTensors& states, const std::string& name) {
    const auto found = std::find_if(states.begin(), states.end(), [&](const auto& one) { return one.first == name; });
    return found == states.end() ? nullptr : &found->second;
}

}  // namespace

RandomNote::RandomNote() {
    for (auto& [name, generator] : generators()) {
        if (generator.device().is_cpu()) m_cpu = generator;
        else m_devices.push_back({name, generator});
    }
    take();
}

void RandomNote::take() {
    {
        const std::lock_guard lock(m_cpu.mutex());
        auto* cpu = at::check_generator<at::CPUGeneratorImpl>(m_cpu);
        m_engine = cpu->engine();
        m_next_float = cpu->next_float_normal_sample();
        m_next_double = cpu->next_double_normal_sample();
    }
    for (OfDevice& device : m_devices) {
        const std::lock_guard lock(device.generator.mutex());
        device.seed = device.generator.current_seed();
        device.offset = device.generator.get_offset();
    }
}

NamedTensors RandomNote::states() const {
    at::Generator cpu = at::detail::createCPUGenerator();
    auto* impl = at::check_generator<at::CPUGeneratorImpl>(cpu);
    impl->set_engine(m_engine);
    impl->set_next_float_normal_sample(m_next_float);
    impl->set_next_double_normal_sample(m_next_double);
    NamedTensors states{{"cpu", state_of(cpu)}};
    for (const OfDevice& device : m_devices) {
        at::Generator copy = device.generator.clone();
        copy.set_current_seed(device.seed);
        copy.set_offset(device.offset);
        states.emplace_back(device.name, state_of(copy));
    }
    return states;
}

NamedTensors random_states() {
    NamedTensors states;
    for (auto& [name, generator] : generators()) states.emplace_back(name, state_of(generator));
    return states;
}

void check_random_states(const NamedTensors& states) {
    for (auto& [name, generator] : generators()) {
        const torch::Tensor* saved = find(states, name);
        const torch::Tensor now = state_of(generator);
        if (saved && (saved->scalar_type() != at::kByte || saved->sizes() != now.sizes())) {
            throw EngineError({ErrorCode::BadPlan,
                               "the saved random state of " + name + " is " + readable_type(*saved) + ", this LibTorch has " +
                                   readable_type(now),
                               "load it with the LibTorch that saved it"});
        }
        if (!saved || name != "cpu") continue;
        // The generator itself knows what is no state of it: a copy of it is asked, not the one in use.
        at::Generator trial = generator.clone();
        try {
            const std::lock_guard lock(trial.mutex());
            trial.set_state(*saved);
        } catch (const std::exception&) {
            throw EngineError({ErrorCode::BadPlan, "the saved random state of " + name + " is none of its generator",
                               "go on from an earlier checkpoint"});
        }
    }
}

void load_random_states(const NamedTensors& states, std::vector<std::string>& notices) {
    std::size_t known = 0;
    for (auto& [name, generator] : generators()) {
        const torch::Tensor* saved = find(states, name);
        if (saved == nullptr) {
            notices.push_back("The checkpoint has no random state of " + name + " for this process: its random numbers are not repeated.");
            continue;
        }
        ++known;
        const std::lock_guard lock(generator.mutex());
        generator.set_state(*saved);
    }
    if (known < states.size()) {
        notices.push_back("The checkpoint has random states of " + std::to_string(states.size() - known) +
                          " device(s) that are not here; they are left out.");
    }
}

}  // namespace mantissa
