#include "numerics/birth_finder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "numerics/birth_code.h"
#include "numerics/dtype_names.h"

namespace mantissa {
namespace {

using torch::Tensor;

constexpr int no_op = -1;

struct Operand {
    const void* identity = nullptr;
    int producer = no_op;  // index of the op that made it
    Level level = Level::Finite;
};

struct SeenOp {
    Birth birth;  // its place and figures; a birth only where is_birth says so
    std::vector<Operand> operands;
    std::vector<Tensor> first_argument;  // while it runs: what a list op without results updates in place
    std::int64_t first_sequence = -1, end_sequence = -1;  // of the autograd nodes made within it
    bool is_birth = false;
    bool is_meant = false;  // its own scalar is not finite: a mask
};

struct Leaf {
    std::string name, phase;
};

struct Context : at::ObserverContext {
    int index = no_op;
    bool is_op = false, is_node = false;
};

thread_local int t_depth = 0;  // aten ops that are running on this thread

std::string_view bare_name(std::string_view name) {
    if (const auto colon = name.rfind("::"); colon != std::string_view::npos) name.remove_prefix(colon + 2);
    name = name.substr(0, name.find('.'));
    while (!name.empty() && name.front() == '_') name.remove_prefix(1);
    while (!name.empty() && name.back() == '_') name.remove_suffix(1);
    return name;
}

// "LogBackward0" → "log": for a node whose forward op wasn't seen.
std::string name_of_node(std::string_view node) {
    if (const auto colon = node.rfind("::"); colon != std::string_view::npos) node.remove_prefix(colon + 2);
    std::string name(node.substr(0, node.find("Backward")));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

bool overwrites(std::string_view op) {
    for (const char* name : {"copy", "fill", "zero", "normal", "uniform", "random", "bernoulli"}) {
        if (op == name) return true;
    }
    return false;
}

bool only_allocates(std::string_view op) {
    return op.substr(0, 5) == "empty" || op.substr(0, 9) == "new_empty" || op == "resize" || op == "set";
}

void collect(const c10::IValue& value, std::vector<Tensor>& tensors) {
    if (value.isTensor()) {
        if (value.toTensor().defined()) tensors.push_back(value.toTensor());
    } else if (value.isTensorList()) {
        for (const Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
    } else if (value.isList()) {
        for (const c10::IValue& one : value.toListRef()) collect(one, tensors);
    }
}

// What shows a weight under another shape or dtype.
bool is_view(std::string_view op) {
    for (const char* name : {"t", "transpose", "permute", "view", "reshape", "expand", "unsqueeze", "flatten", "contiguous", "to"}) {
        if (op == name) return true;
    }
    return false;
}

bool is_nonfinite_scalar(const c10::IValue& value) { return value.isDouble() && !std::isfinite(value.toDouble()); }

}  // namespace

struct BirthFinder::State {
    mutable std::mutex mutex;  // protects all below: a backward may run on other threads
    std::vector<SeenOp> ops;
    std::unordered_map<const void*, int> producers;  // of a tensor, and of a storage: a saved tensor comes back as another
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> kept;  // an address that is seen isn't given out again
    std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> kept_storages;
    std::unordered_map<const void*, Leaf> leaves;
    std::string phase = "forward", error;
    std::function<std::string()> place;
    std::vector<std::string> nodes;  // running autograd nodes: the name of the op that each is the derivative of
    std::vector<std::string> node_modules;
    at::CallbackHandle handle = 0;

    int begin(const at::RecordFunction& function);
    void end(const at::RecordFunction& function, int index);
    void enter_node(const at::RecordFunction& function);
    void describe(SeenOp& op, std::string_view name, const std::vector<Tensor>& tensors);
    [[nodiscard]] std::optional<Birth> story(Operand at) const;
    void hand_on_name(const void* leaf, const std::vector<Tensor>& views);
    [[nodiscard]] Operand operand(const Tensor& tensor) const;
};

namespace {

std::atomic<BirthFinder::State*> active{nullptr};

struct Callbacks {
    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
        auto context = std::make_unique<Context>();
        BirthFinder::State* state = active.load();
        if (state == nullptr) return context;
        const std::lock_guard lock(state->mutex);
        try {
            if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
                context->is_node = true;
                state->enter_node(function);
            } else if (function.operator_name()) {  // not the engine's own brackets around a node
                context->is_op = true;
                if (t_depth++ == 0) context->index = state->begin(function);
            }
        } catch (const std::exception& exception) {
            if (state->error.empty()) state->error = exception.what();
        }
        return context;
    }

    static void end(const at::RecordFunction& function, at::ObserverContext* observer) {
        auto* context = static_cast<Context*>(observer);
        BirthFinder::State* state = active.load();
        if (context == nullptr || state == nullptr) return;
        const std::lock_guard lock(state->mutex);
        try {
            if (context->is_node) {
                state->nodes.pop_back();
                state->node_modules.pop_back();
                return;
            }
            if (context->is_op) --t_depth;
            if (context->index != no_op) state->end(function, context->index);
        } catch (const std::exception& exception) {
            if (state->error.empty()) state->error = exception.what();
        }
    }
};

/// Reading tensors inside a callback: unseen, without a graph, without casts.
struct Unseen {
    const torch::NoGradGuard no_grad;
    const at::DisableRecordFunctionGuard no_record;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast{c10::autocast_dispatch_keyset};
};

}  // namespace

Operand BirthFinder::State::operand(const Tensor& tensor) const {
    const void* identity = tensor.unsafeGetTensorImpl();
    auto made = producers.find(identity);
    if (made == producers.end() && tensor.has_storage()) made = producers.find(tensor.storage().unsafeGetStorageImpl());
    return {identity, made == producers.end() ? no_op : made->second, level_of(tensor)};
}

void BirthFinder::State::hand_on_name(const void* leaf, const std::vector<Tensor>& views) {
    const auto named = leaves.find(leaf);
    if (named == leaves.end() || named->second.phase != "parameter") return;
    const Leaf name = named->second;
    for (const Tensor& view : views) leaves[view.unsafeGetTensorImpl()] = name;
}

int BirthFinder::State::begin(const at::RecordFunction& function) {
    const Unseen unseen;
    SeenOp op;
    const std::string_view name = bare_name(function.name());
    op.first_sequence = static_cast<std::int64_t>(at::sequence_number::peek());
    // From TorchScript the whole interpreter stack is handed over: an op's own arguments are the last of it.
    auto inputs = function.inputs();
    const auto schema = function.operator_schema();
    if (schema && inputs.size() > schema->arguments().size()) {
        inputs = inputs.slice(inputs.size() - schema->arguments().size());
    }
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool is_destination = (i == 0 && overwrites(name)) || (schema && i < schema->arguments().size() &&
                                                                     schema->arguments()[i].is_out());
        if (!is_destination) collect(inputs[i], tensors);
        op.is_meant = op.is_meant || is_nonfinite_scalar(inputs[i]);
    }
    if (schema && schema->returns().empty() && !inputs.empty()) collect(inputs[0], op.first_argument);
    for (const Tensor& tensor : tensors) op.operands.push_back(operand(tensor));
    describe(op, name, tensors);
    ops.push_back(std::move(op));
    return static_cast<int>(ops.size()) - 1;
}

void BirthFinder::State::describe(SeenOp& op, std::string_view name, const std::vector<Tensor>& tensors) {
    op.birth.kernel = op.birth.op = name;
    op.birth.phase = nodes.empty() ? phase : "backward";
    if (!nodes.empty()) {
        op.birth.op = nodes.back();
        op.birth.module = node_modules.back();
    } else if (place) {
        op.birth.module = place();
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        op.birth.operands.push_back(largest_magnitude_of(tensors[i]));
        const auto leaf = leaves.find(op.operands[i].identity);
        if (op.birth.module.empty() && nodes.empty() && leaf != leaves.end() && leaf->second.phase == "parameter") {
            const std::string& path = leaf->second.name;
            op.birth.module = path.substr(0, path.rfind('.') == std::string::npos ? 0 : path.rfind('.'));
        }
    }
    if (!tensors.empty()) op.birth.smallest_operand = smallest_magnitude_of(tensors.back());
}

void BirthFinder::State::end(const at::RecordFunction& function, int index) {
    const Unseen unseen;
    SeenOp& op = ops[static_cast<std::size_t>(index)];
    op.end_sequence = static_cast<std::int64_t>(at::sequence_number::peek());
    std::vector<Tensor> results;
    for (const c10::IValue& value : function.outputs()) collect(value, results);
    if (results.empty()) results = std::exchange(op.first_argument, {});
    Level before = Level::Finite, after = Level::Finite;
    for (const Operand& one : op.operands) before = std::max(before, one.level);
    for (const Tensor& result : results) {
        producers[result.unsafeGetTensorImpl()] = index;
        kept.emplace_back(result.getIntrusivePtr());
        if (result.has_storage()) {
            producers[result.storage().unsafeGetStorageImpl()] = index;
            kept_storages.push_back(result.storage().getWeakStorageImpl());
        }
        const Level level = level_of(result);
        if (level > after || op.birth.dtype.empty()) {
            op.birth.dtype = dtype_name(result.scalar_type());
            op.birth.result = largest_magnitude_of(result);
        }
        after = std::max(after, level);
    }
    if (is_view(op.birth.kernel) && op.operands.size() == 1) hand_on_name(op.operands[0].identity, results);
    op.is_birth = after > before && !op.is_meant && !only_allocates(op.birth.kernel);
    if (op.is_birth) op.birth.code = birth_code(op.birth, before, after);
}

void BirthFinder::State::enter_node(const at::RecordFunction& function) {
    std::string op = name_of_node(function.name()), module;
    // The forward op within which this node was made.
    for (const SeenOp& seen : ops) {
        if (seen.birth.phase == "backward" || seen.end_sequence < 0) continue;
        if (seen.first_sequence <= function.seqNr() && function.seqNr() < seen.end_sequence) {
            op = seen.birth.op;
            module = seen.birth.module;
        }
    }
    nodes.push_back(std::move(op));
    node_modules.push_back(std::move(module));
}

// From a bad tensor back to what made it, and on through whatever was bad before it: the last birth on the way is the first cause.
std::optional<Birth> BirthFinder::State::story(Operand at) const {
    std::optional<Birth> cause;
    Level level = at.level;
    while (at.level != Level::Finite) {
        if (at.producer == no_op) {
            const auto leaf = leaves.find(at.identity);
            // An Inf that nobody named, or in a buffer, is a mask that somebody meant, where something else went wrong after it.
            const bool is_meant = at.level == Level::Inf && (leaf == leaves.end() || leaf->second.phase == "buffer");
            if (!is_meant || (!cause && leaf != leaves.end())) {
                cause.emplace();
                cause->phase = leaf == leaves.end() ? "data" : leaf->second.phase;
                cause->tensor = leaf == leaves.end() ? "" : leaf->second.name;
                cause->result = level == Level::Inf ? INFINITY : NAN;
                cause->code = cause->phase == "data" ? "bad_input" : "unknown";
            }
            break;
        }
        const SeenOp& op = ops[static_cast<std::size_t>(at.producer)];
        if (op.is_birth) cause = op.birth;
        // Made by an earlier op: an op that updates a tensor in place must not lead back to itself.
        Operand next;
        for (const Operand& one : op.operands) {
            if (one.level > next.level && one.producer < at.producer) next = one;
        }
        level = next.level;
        at = next;
    }
    return cause;
}

BirthFinder::BirthFinder() : m_state(std::make_unique<State>()) {
    State* nobody = nullptr;
    const bool alone = active.compare_exchange_strong(nobody, m_state.get());
    MANTISSA_ASSERT(alone);
    t_depth = 0;
    m_state->handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback(Callbacks::start, Callbacks::end)
            .needsInputs(true)
            .needsOutputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

BirthFinder::~BirthFinder() {
    at::removeCallback(m_state->handle);
    active = nullptr;
}

void BirthFinder::name(const Tensor& leaf, const std::string& name, const std::string& phase) {
    const std::lock_guard lock(m_state->mutex);
    m_state->kept.emplace_back(leaf.getIntrusivePtr());
    m_state->leaves[leaf.unsafeGetTensorImpl()] = {name, phase};
}

void BirthFinder::name_tensors_of(const torch::nn::Module& module) {
    for (const auto& entry : module.named_parameters()) name(entry.value(), entry.key(), "parameter");
    for (const auto& entry : module.named_buffers()) name(entry.value(), entry.key(), "buffer");
}

void BirthFinder::set_phase(const std::string& phase) {
    const std::lock_guard lock(m_state->mutex);
    m_state->phase = phase;
}

void BirthFinder::set_place(std::function<std::string()> place) {
    const std::lock_guard lock(m_state->mutex);
    m_state->place = std::move(place);
}

std::optional<Birth> BirthFinder::cause_of(const Tensor& bad) const {
    const Unseen unseen;
    const std::lock_guard lock(m_state->mutex);
    return bad.defined() ? m_state->story(m_state->operand(bad)) : std::nullopt;
}

std::optional<Birth> BirthFinder::cause_of_gradients(const torch::nn::Module& module) const {
    for (const Tensor& parameter : module.parameters()) {
        if (auto cause = cause_of(parameter.grad())) return cause;
    }
    return std::nullopt;
}

std::string BirthFinder::callback_error() const {
    const std::lock_guard lock(m_state->mutex);
    return m_state->error;
}

std::string Birth::place() const {
    if (!tensor.empty()) return tensor;
    return module.empty() || op.empty() ? module + op : module + "." + op;
}

}  // namespace mantissa
