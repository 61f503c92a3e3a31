#include "engine/fp32_islands.h"

#include <algorithm>
#include <shared_mutex>
#include <unordered_map>

#include "engine/dispatch_scope.h"
#include "engine/engine_error.h"
#include "engine/island_entries.h"
#include "engine/op_kinds.h"
#include "engine/script_paths.h"
#include "plan/nearest.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

using c10::DispatchKey;
constexpr DispatchKey mode_key = DispatchKey::TESTING_ONLY_GenericMode;
constexpr auto state_kind = c10::DebugInfoKind::TEST_INFO_2;  // travels with the dispatch keys of a thread

bool is_half(const at::Tensor& tensor) {
    return tensor.defined() && (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16);
}

bool looks_only(const c10::FunctionSchema& schema) {
    return std::any_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument& result) {
        return result.alias_info() != nullptr && !result.alias_info()->isWrite();
    });
}

struct OpKind {
    std::string name;
    bool may_match = false;
    bool looks_only = false;
};

// One path, or a list of those it may be.
std::string text_of(const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += (text.empty() ? "" : " or ") + path;
    return text;
}

thread_local std::optional<Error> t_refusal;

// TorchScript's interpreter turns every exception into one of its own: the sentence is kept beside it.
[[noreturn]] void refuse(Error error) {
    t_refusal = error;
    throw EngineError(std::move(error));
}

[[noreturn]] void refuse_in_place(const std::string& path, const c10::FunctionSchema& schema, const at::Tensor& target) {
    refuse({ErrorCode::BadPlan,
                       "fp32_islands: " + schema.name() + (path.empty() ? "" : " in " + path) + " writes in place into " +
                           (target.scalar_type() == at::kHalf ? "float16" : "bfloat16") + " memory, so it can't compute in fp32",
                       "write it as a new tensor (c = a * b), or begin the island where the tensor is made"});
}

[[noreturn]] void refuse_ambiguous(const std::vector<std::string>& paths, const std::string& op) {
    refuse({ErrorCode::BadPlan,
                       "fp32_islands: TorchScript doesn't tell in which module " + op + " runs here: " + text_of(paths) +
                           ", and only some of them are islands",
                       "name all of them, or the operation everywhere (aten::" + op + ")"});
}

// Running statistics are written without being declared so: a copy would lose the update.
bool is_running_statistic(const c10::Argument& argument) { return argument.name().starts_with("running_"); }

void to_fp32(c10::IValue& value, const c10::Argument& argument) {
    if (value.isTensor()) {
        if (is_half(value.toTensor()) && !is_running_statistic(argument)) {
            value = value.toTensor().to(at::kFloat);
        }
    } else if (value.isTensorList()) {
        auto list = value.toTensorVector();
        for (at::Tensor& one : list) {
            if (is_half(one)) one = one.to(at::kFloat);
        }
        value = std::move(list);
    } else if (value.isInt() && argument.real_type()->str().starts_with("ScalarType")) {
        const auto type = static_cast<at::ScalarType>(value.toInt());
        if (type == at::kHalf || type == at::kBFloat16) value = static_cast<std::int64_t>(at::kFloat);
    }
}

thread_local const std::string* t_outermost = nullptr;  // the op that runs, in the first step

class OutermostOp {
  public:
    explicit OutermostOp(const std::string& name) { t_outermost = &name; }
    ~OutermostOp() { t_outermost = nullptr; }
    OutermostOp(const OutermostOp&) = delete;
    OutermostOp& operator=(const OutermostOp&) = delete;
};

}  // namespace

struct Fp32Islands::State : c10::DebugInfoBase {
    explicit State(const std::vector<std::string>& list) : entries(list) {}

    const OpKind& kind_of(const c10::FunctionSchema& schema) {
        {
            const std::shared_lock lock(mutex);
            if (const auto known = kinds.find(&schema); known != kinds.end()) return known->second;
        }
        OpKind kind{plain_op_name(schema.name()), false, looks_only(schema)};
        kind.may_match = !kind.looks_only && entries.may_match(kind.name);
        const std::unique_lock lock(mutex);
        return kinds.emplace(&schema, std::move(kind)).first->second;
    }

    static void dispatch(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);
    void call(const OpKind& kind, const c10::OperatorHandle& op, c10::DispatchKeySet below, torch::jit::Stack* stack);
    static void call_in_fp32(const c10::OperatorHandle& op, c10::DispatchKeySet below, torch::jit::Stack* stack,
                             IslandEntries::Match match, const OpKind& kind, const std::vector<std::string>& paths);

    IslandEntries entries;
    IslandLog log;
    std::atomic<bool> is_first_step{true};
    std::shared_mutex mutex;  // protects kinds
    std::unordered_map<const c10::FunctionSchema*, OpKind> kinds;
};

// Every op of a thread with islands comes here first, above autograd and autocast.
void Fp32Islands::State::dispatch(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    const auto below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, mode_key);
    auto* state = static_cast<State*>(c10::ThreadLocalDebugInfo::get(state_kind));
    if (state == nullptr) {
        return op.redispatchBoxed(below, stack);
    }
    const OpKind& kind = state->kind_of(op.schema());
    if (!state->is_first_step) {
        const c10::impl::ExcludeDispatchKeyGuard only_outermost(mode_key);
        return state->call(kind, op, below, stack);
    }
    // In the first step inner ops are seen too, to say where an entry that names one would have to point.
    if (t_outermost != nullptr) {
        state->log.inner(kind.name, *t_outermost);
        return op.redispatchBoxed(below, stack);
    }
    const OutermostOp here(kind.name);
    for (const std::string& path : current_module_paths()) {
        state->log.outermost(path, kind.name);
    }
    state->call(kind, op, below, stack);
}

void Fp32Islands::State::call(const OpKind& kind, const c10::OperatorHandle& op, c10::DispatchKeySet below,
                              torch::jit::Stack* stack) {
    if (!kind.may_match) {
        return op.redispatchBoxed(below, stack);
    }
    const std::vector<std::string> paths = current_module_paths();
    IslandEntries::Match match = entries.match(paths.front(), kind.name);
    for (std::size_t i = 1; i < paths.size(); ++i) {
        const IslandEntries::Match other = entries.match(paths[i], kind.name);
        if ((other == IslandEntries::Match::None) != (match == IslandEntries::Match::None)) refuse_ambiguous(paths, kind.name);
        if (other == IslandEntries::Match::Op) match = other;
    }
    if (match == IslandEntries::Match::None) {
        return op.redispatchBoxed(below, stack);
    }
    call_in_fp32(op, below, stack, match, kind, paths);
}

void Fp32Islands::State::call_in_fp32(const c10::OperatorHandle& op, c10::DispatchKeySet below, torch::jit::Stack* stack,
                                      IslandEntries::Match match, const OpKind& kind,
                                      const std::vector<std::string>& paths) {
    const auto& arguments = op.schema().arguments();
    const std::size_t first = stack->size() - arguments.size();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        c10::IValue& value = (*stack)[first + i];
        const bool is_written = arguments[i].alias_info() != nullptr && arguments[i].alias_info()->isWrite();
        if (!is_written || !value.isTensor() || !is_half(value.toTensor())) {
            continue;
        }
        if (match == IslandEntries::Match::Path && (overwrites(kind.name) || changes_no_value(kind.name))) {
            return op.redispatchBoxed(below, stack);
        }
        refuse_in_place(text_of(paths), op.schema(), value.toTensor());
    }
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool is_written = arguments[i].alias_info() != nullptr && arguments[i].alias_info()->isWrite();
        if (!is_written) {
            to_fp32((*stack)[first + i], arguments[i]);
        }
    }
    op.redispatchBoxed(below - c10::autocast_dispatch_keyset, stack);
}

namespace {

void refuse_unknown_op(const std::string& text, const std::string& op, std::size_t index) {
    std::vector<std::string> names;
    bool is_known = false, computes = false;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
        if (!name.name.starts_with("aten::")) {
            continue;
        }
        const std::string plain = plain_op_name(name.name);
        if (plain == op) {
            is_known = true;
            const auto handle = c10::Dispatcher::singleton().findSchema(name);
            computes = computes || (handle && !looks_only(handle->schema()));
        }
        if (plain.front() != '_') names.push_back("aten::" + plain);
    }
    const std::string subject = "fp32_islands[" + std::to_string(index) + "] is \"" + text + "\", but ";
    if (!is_known) {
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        const auto nearest = nearest_names(text, names);
        throw EngineError({ErrorCode::BadPlan, subject + "torch has no such operation",
                           nearest.empty() ? "name it as the table of operations of a run does, for example aten::softmax"
                                           : "did you mean " + join_names(nearest) + "?"});
    }
    if (!computes) {
        throw EngineError({ErrorCode::BadPlan, subject + op + " only moves or looks at values, so it has no precision",
                           "name the operation that computes with them"});
    }
}

// Registered once, and only in a process that has islands: it is a line in the table of every op.
void register_fallback(torch::CppFunction fallback) {
    static torch::Library library(torch::Library::IMPL, "_", mode_key, __FILE__, __LINE__);
    library.fallback(std::move(fallback));
}

}  // namespace

Fp32Islands::Fp32Islands(std::vector<std::string> list) : m_state(std::make_shared<State>(list)) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (const std::string& op = m_state->entries.aten_op(i); !op.empty()) {
            refuse_unknown_op(list[i], op, i);
        }
    }
    static const bool registered = [] {
        register_fallback(torch::CppFunction::makeFromBoxedFunction<&State::dispatch>());
        return true;
    }();
    static_cast<void>(registered);
}

Fp32Islands::~Fp32Islands() = default;

void Fp32Islands::refuse_unmatched() {
    if (!m_state->is_first_step) {
        return;
    }
    if (const auto error = m_state->log.unmatched(m_state->entries)) {
        throw EngineError(*error);
    }
    m_state->is_first_step = false;
}

IslandScope::IslandScope(const Fp32Islands& islands) : m_scope(std::make_unique<DispatchScope>(state_kind, islands.m_state, mode_key)) {}
IslandScope::~IslandScope() = default;

std::optional<Error> take_island_refusal() { return std::exchange(t_refusal, std::nullopt); }

}  // namespace mantissa
