#include "numerics/op_counter.h"

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/assert.h"
#include "numerics/dtype_names.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

struct Count {
    std::int64_t calls = 0, multiply_adds = 0, casts = 0, cast_bytes = 0;
};
using Key = std::tuple<OpPhase, std::string, at::ScalarType>;

// A convolution calls products inside; only the outermost counts its multiply-adds.
thread_local int t_counted_depth = 0;
// A cast copies inside; only the outermost counts.
thread_local int t_cast_depth = 0;

std::string_view bare_name(std::string_view name) {
    const auto colon = name.rfind("::");
    if (colon != std::string_view::npos) name.remove_prefix(colon + 2);
    return name.substr(0, name.find('.'));
}

struct Work {
    std::int64_t multiply_adds = 0;
    bool counted = false;
};

Work product(const at::Tensor& left, const at::Tensor& right) {
    return {left.numel() * right.size(-1), true};
}

// Each output element takes (weights of one output channel) multiply-adds.
std::int64_t convolution_work(const at::Tensor& output, const at::Tensor& weight, bool transposed,
                              const at::Tensor& input) {
    return transposed ? input.numel() * (weight.numel() / weight.size(0))
                      : output.numel() * (weight.numel() / weight.size(0));
}

// Of the operands alone; a forward convolution needs its result too and is completed in the end callback.
Work work_of(std::string_view op, c10::ArrayRef<const c10::IValue> inputs) {
    const auto tensor = [&](std::size_t i) -> const at::Tensor& { return inputs[i].toTensor(); };
    if (op == "mm" || op == "bmm" || op == "_scaled_mm") return product(tensor(0), tensor(1));
    if (op == "addmm" || op == "baddbmm") return product(tensor(1), tensor(2));
    if (op == "convolution") return {0, true};
    if (op == "convolution_backward") {
        const auto mask = inputs[inputs.size() - 1].toBoolList();
        const bool transposed = inputs[7].toBool();
        const std::int64_t once = convolution_work(tensor(0), tensor(2), transposed, tensor(1));
        return {once * (int{mask[0]} + int{mask[1]}), true};
    }
    return {};
}

// What a product in fp8 computes in is the format of its operands, the wider range of both; its result is bfloat16.
std::optional<at::ScalarType> computed_type(std::string_view op, c10::ArrayRef<const c10::IValue> inputs) {
    if (op != "_scaled_mm") return std::nullopt;
    const at::ScalarType left = inputs[0].toTensor().scalar_type(), right = inputs[1].toTensor().scalar_type();
    return left == at::kFloat8_e5m2 ? left : right;
}

// Ops that may give their operand's values in another dtype. `to` and the promotions of other ops come down to _to_copy.
bool is_copy(std::string_view op) { return op == "_to_copy" || op == "copy_" || op == "to_fp8"; }

// The dtype of the values that are copied: those of copy_ are its second operand. Empty when they are no floating-point numbers.
std::optional<at::ScalarType> copied_type(std::string_view op, c10::ArrayRef<const c10::IValue> inputs) {
    const c10::IValue& from = inputs[op == "copy_" ? 1 : 0];
    if (!from.isTensor() || !at::isFloatingType(from.toTensor().scalar_type())) return std::nullopt;
    return from.toTensor().scalar_type();
}

struct OpContext : at::ObserverContext {
    Work work;
    bool copies = false;
    std::optional<at::ScalarType> copied_from;  // of an outermost copy of floating-point numbers
    std::optional<at::ScalarType> computed_in;  // where the result doesn't tell
    std::int64_t weight_per_output = 0;  // of a forward convolution
    std::int64_t transposed_work = 0;
    OpPhase phase = OpPhase::Forward;
    bool watched = false;
};

// The outermost call whose multiply-adds are counted. In mode fp8 that is addmm, as it was called, though what runs is _scaled_mm.
thread_local OpContext* t_counted = nullptr;

}  // namespace

struct OpCounter::State {
    mutable std::mutex mutex;  // protects counts, failed_op, error
    std::map<Key, Count> counts;
    std::int64_t half_multiply_adds = 0;
    std::string failed_op, error;
    std::atomic<OpPhase> phase{OpPhase::Forward};
    std::atomic<bool> paused{false};
    at::CallbackHandle handle = 0;
};

namespace {

std::atomic<void*> active_counter{nullptr};  // RecordFunction's callbacks are plain functions

}  // namespace

// The two callbacks, with access to the state.
struct OpCounterCallbacks {
    using State = OpCounter::State;

    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
        auto* state = static_cast<State*>(active_counter.load());
        auto context = std::make_unique<OpContext>();
        if (state == nullptr || state->paused) return context;
        context->watched = true;
        context->phase = state->phase;
        const std::string_view op = bare_name(function.name());
        const auto inputs = function.inputs();
        if (is_copy(op)) {
            context->copies = true;
            if (t_cast_depth++ == 0) context->copied_from = copied_type(op, inputs);
        }
        if (t_counted_depth > 0 && op != "_scaled_mm") return context;
        if (t_counted_depth > 0) t_counted->work.multiply_adds = 0;  // a layer in fp8: its product counts, not the call around it
        try {
            context->work = work_of(op, inputs);
            context->computed_in = computed_type(op, inputs);
            if (op == "convolution") {
                const at::Tensor &input = inputs[0].toTensor(), &weight = inputs[1].toTensor();
                context->weight_per_output = weight.numel() / weight.size(0);
                if (inputs[6].toBool()) context->transposed_work = input.numel() * context->weight_per_output;
            }
            if (context->work.counted && t_counted_depth++ == 0) t_counted = context.get();
        } catch (const std::exception& exception) {
            keep_error(*state, function.name(), exception.what());
        }
        return context;
    }

    static void end(const at::RecordFunction& function, at::ObserverContext* observer) {
        auto* context = static_cast<OpContext*>(observer);
        if (context == nullptr || !context->watched) return;
        if (context->work.counted) --t_counted_depth;
        if (context->copies) --t_cast_depth;
        auto* state = static_cast<State*>(active_counter.load());
        if (state == nullptr) return;
        try {
            if (std::uncaught_exceptions() > 0) return keep_failure(*state, function.name());
            count(*state, function, *context);
        } catch (const std::exception& exception) {
            keep_error(*state, function.name(), exception.what());
        }
    }

    static void count(State& state, const at::RecordFunction& function, OpContext& context) {
        const std::string op(bare_name(function.name()));
        bool first = true;
        for (const c10::IValue& value : function.outputs()) {
            if (!value.isTensor() || !value.toTensor().defined()) continue;
            const at::Tensor& result = value.toTensor();
            std::int64_t work = first ? context.work.multiply_adds : 0;
            if (first && context.weight_per_output > 0) {
                work = context.transposed_work > 0 ? context.transposed_work
                                                   : result.numel() * context.weight_per_output;
            }
            const std::lock_guard lock(state.mutex);
            Count& entry = state.counts[{context.phase, op, context.computed_in.value_or(result.scalar_type())}];
            entry.calls += first ? 1 : 0;
            entry.multiply_adds += work;
            if (first && context.copied_from && at::isFloatingType(result.scalar_type()) && result.scalar_type() != *context.copied_from) {
                ++entry.casts;
                entry.cast_bytes += static_cast<std::int64_t>(result.nbytes());
            }
            // By the result: under autocast the outermost op still sees fp32 operands.
            if (is_half(result.scalar_type())) state.half_multiply_adds += work;
            first = false;
        }
    }

    // The innermost op ends first while an exception passes: it is the one that refused.
    static void keep_failure(State& state, std::string_view name) {
        const std::lock_guard lock(state.mutex);
        if (state.failed_op.empty()) state.failed_op = bare_name(name);
    }

    static void keep_error(State& state, std::string_view name, std::string_view text) {
        const std::lock_guard lock(state.mutex);
        if (state.error.empty()) state.error = std::string(name) + ": " + std::string(text);
    }
};

OpCounter::OpCounter() : m_state(std::make_unique<State>()) {
    void* nobody = nullptr;
    const bool alone = active_counter.compare_exchange_strong(nobody, m_state.get());
    MANTISSA_ASSERT(alone);
    m_state->handle =
        at::addGlobalCallback(at::RecordFunctionCallback(OpCounterCallbacks::start, OpCounterCallbacks::end)
                                  .needsInputs(true)
                                  .needsOutputs(true)
                                  .scopes({at::RecordScope::FUNCTION}));
}

OpCounter::~OpCounter() {
    at::removeCallback(m_state->handle);
    active_counter = nullptr;
}

void OpCounter::set_phase(OpPhase phase) {
    m_state->phase = phase;
}
void OpCounter::pause() {
    m_state->paused = true;
}
void OpCounter::resume() {
    m_state->paused = false;
}

std::vector<OpDtypeRow> OpCounter::rows(std::int64_t step) const {
    const std::lock_guard lock(m_state->mutex);
    std::vector<OpDtypeRow> rows;
    for (const auto& [key, count] : m_state->counts) {
        const auto& [phase, op, type] = key;
        if (count.calls == 0) continue;  // a further result of an op that is counted under its first
        rows.push_back({step, phase == OpPhase::Forward ? "forward" : "backward", op, dtype_name(type),
                        count.calls, count.multiply_adds, count.casts, count.cast_bytes});
    }
    return rows;
}

OpCounter::Totals OpCounter::totals() const {
    const std::lock_guard lock(m_state->mutex);
    std::set<std::string> kinds, half_kinds;
    Totals totals;
    for (const auto& [key, count] : m_state->counts) {
        const auto& [phase, op, type] = key;
        kinds.insert(op);
        if (is_half(type)) half_kinds.insert(op);
        totals.multiply_adds += count.multiply_adds;
    }
    totals.op_kinds = static_cast<std::int64_t>(kinds.size());
    totals.op_kinds_half = static_cast<std::int64_t>(half_kinds.size());
    totals.multiply_adds_half = m_state->half_multiply_adds;
    return totals;
}

std::string OpCounter::op_of_last_failure() const {
    const std::lock_guard lock(m_state->mutex);
    return m_state->failed_op;
}

std::string OpCounter::callback_error() const {
    const std::lock_guard lock(m_state->mutex);
    return m_state->error;
}

}  // namespace mantissa
