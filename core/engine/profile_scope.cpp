#include "engine/profile_scope.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/version.h"
#include "engine/engine_error.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

struct SeenTensor {
    at::ScalarType type;
    std::vector<std::int64_t> sizes;
};

struct Event {
    std::string name;
    bool is_backward = false;
    std::int64_t thread = 0, start_ns = 0, duration_ns = 0, sequence = -1;
    std::vector<SeenTensor> inputs, outputs;
};

struct Begun : at::ObserverContext {
    std::int64_t start_ns = 0;
    std::vector<SeenTensor> inputs;
};

void see(const c10::IValue& value, std::vector<SeenTensor>& seen) {
    if (value.isTensor() && value.toTensor().defined()) {
        seen.push_back({value.toTensor().scalar_type(), value.toTensor().sizes().vec()});
    } else if (value.isTensorList()) {
        for (const at::Tensor& tensor : value.toTensorVector()) {
            if (tensor.defined()) {
                seen.push_back({tensor.scalar_type(), tensor.sizes().vec()});
            }
        }
    }
}

std::int64_t thread_number() { return syscall(SYS_gettid); }

std::atomic<void*> active{nullptr};  // RecordFunction's callbacks are plain functions

nlohmann::json json_of(const std::vector<SeenTensor>& all, bool types) {
    nlohmann::json list = nlohmann::json::array();
    for (const SeenTensor& one : all) {
        list.push_back(types ? nlohmann::json(c10::toString(one.type)) : nlohmann::json(one.sizes));
    }
    return list;
}

}  // namespace

struct ProfileScope::State {
    ProfileOptions options;
    std::int64_t origin_ns = monotonic_ns();
    at::CallbackHandle handle = 0;
    mutable std::mutex mutex;  // protects the rest
    std::vector<Event> events;
    std::int64_t left_out = 0;
    std::string error;  // an exception of a callback: RecordFunction would swallow it

    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
        auto begun = std::make_unique<Begun>();
        const auto* state = static_cast<const State*>(active.load());
        if (state != nullptr && state->options.with_shapes) {
            for (const c10::IValue& value : function.inputs()) {
                see(value, begun->inputs);
            }
        }
        begun->start_ns = monotonic_ns();
        return begun;
    }

    static void end(const at::RecordFunction& function, at::ObserverContext* observer) {
        const std::int64_t now = monotonic_ns();
        auto* state = static_cast<State*>(active.load());
        auto* begun = static_cast<Begun*>(observer);
        if (state == nullptr || begun == nullptr) {
            return;
        }
        try {
            Event event{function.name(), function.scope() == at::RecordScope::BACKWARD_FUNCTION, thread_number(), begun->start_ns,
                        now - begun->start_ns, function.seqNr(), std::move(begun->inputs), {}};
            if (state->options.with_shapes) {
                for (const c10::IValue& value : function.outputs()) {
                    see(value, event.outputs);
                }
            }
            const std::lock_guard lock(state->mutex);
            if (static_cast<std::int64_t>(state->events.size()) < state->options.max_events) {
                state->events.push_back(std::move(event));
            } else {
                ++state->left_out;
            }
        } catch (const std::exception& exception) {
            const std::lock_guard lock(state->mutex);
            state->error = exception.what();
        }
    }

    [[nodiscard]] std::string text() const {
        nlohmann::json all = nlohmann::json::array();
        for (const Event& event : events) {
            nlohmann::json entry{{"ph", "X"}, {"cat", event.is_backward ? "backward" : "op"}, {"name", event.name}, {"pid", getpid()},
                                 {"tid", event.thread}, {"ts", static_cast<double>(event.start_ns - origin_ns) / 1e3},
                                 {"dur", static_cast<double>(event.duration_ns) / 1e3}};
            if (options.with_shapes) {
                entry["args"] = {{"input_types", json_of(event.inputs, true)}, {"input_shapes", json_of(event.inputs, false)},
                                 {"output_types", json_of(event.outputs, true)}, {"output_shapes", json_of(event.outputs, false)}};
            }
            if (event.sequence >= 0) {
                entry["args"]["sequence"] = event.sequence;  // joins a backward operation to its forward one
            }
            all.push_back(std::move(entry));
        }
        return nlohmann::json{{"traceEvents", all}, {"displayTimeUnit", "ms"},
                              {"otherData", {{"program", "Mantissa"}, {"version", version}, {"torch", TORCH_VERSION},
                                             {"left_out", left_out}}}}
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
               "\n";
    }
};

ProfileScope::ProfileScope(std::filesystem::path file, const ProfileOptions& options)
    : m_file(std::move(file)), m_state(std::make_unique<State>()) {
    m_state->options = options;
    void* nobody = nullptr;
    if (!active.compare_exchange_strong(nobody, m_state.get())) {
        throw EngineError({ErrorCode::BadPlan, "two profiles at the same time", "finish the first one"});
    }
    m_state->handle = at::addGlobalCallback(at::RecordFunctionCallback(State::start, State::end)
                                                .needsInputs(options.with_shapes)
                                                .needsOutputs(options.with_shapes)
                                                .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

ProfileScope::~ProfileScope() {
    try {
        finish();
    } catch (const EngineError& error) {
        log::error(describe(error.error()));
    }
}

std::int64_t ProfileScope::events() const {
    const std::lock_guard lock(m_state->mutex);
    return static_cast<std::int64_t>(m_state->events.size());
}

void ProfileScope::finish() {
    if (active.load() != m_state.get()) {
        return;
    }
    at::removeCallback(m_state->handle);
    active = nullptr;
    const std::lock_guard lock(m_state->mutex);
    if (!m_state->error.empty()) {
        throw EngineError({ErrorCode::Internal, "the profile failed in an operation: " + m_state->error, ""});
    }
    if (m_file.has_parent_path()) {
        if (auto made = make_folders(m_file.parent_path()); !made) {
            throw EngineError(made.error());
        }
    }
    if (auto written = write_file_atomically(m_file, m_state->text()); !written) {
        throw EngineError(written.error());
    }
}

}  // namespace mantissa
