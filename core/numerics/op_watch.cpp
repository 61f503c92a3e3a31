#include "numerics/op_watch.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/assert.h"
#include "engine/script_paths.h"
#include "numerics/birth_code.h"
#include "numerics/op_arguments.h"
#include "numerics/op_names.h"

namespace mantissa {

using torch::Tensor;

/// A call that runs: an outermost one, or one within it.
struct OpWatch::Running {
    std::string name;
    int first = no_op;         // the op, or the first element of one on lists
    std::size_t elements = 1;
    std::vector<std::vector<Tensor>> written;  // of each element
    std::set<const void*> storages, written_storages;  // of what went in
    std::optional<OpReading> inner;  // of one within: what went in
    Level inner_before = Level::Finite;
};

struct OpWatch::Node {
    std::string op, module;
    int forward = no_op;
};

namespace {

std::atomic<OpWatch*> active_watch{nullptr};

/// What this thread is in, for one watch.
struct ThreadPlace {
    const OpWatch* watch = nullptr;
    int depth = 0;  // aten ops that are running
    OpWatch::Running* outermost = nullptr;
    std::vector<OpWatch::Node> nodes;  // running autograd nodes
    OpWatch::Node last_node;           // that ended: the engine fits its results to their shapes after it
    /// The node that an op which runs now belongs to; null outside of a backward.
    [[nodiscard]] const OpWatch::Node* node() const {
        if (!nodes.empty()) return &nodes.back();
        return torch::autograd::get_current_graph_task_id() >= 0 ? &last_node : nullptr;
    }
};
thread_local ThreadPlace t_place;

ThreadPlace& place_in(const OpWatch* watch) {
    if (t_place.watch != watch) t_place = {watch, 0, nullptr, {}, {}};
    return t_place;
}

struct Context : at::ObserverContext {
    std::optional<OpWatch::Running> running;
    bool is_op = false, is_node = false;
};

const void* storage_of(const Tensor& tensor) {
    return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

// A scalar that isn't finite is meant, and so is what is no worse than it.
Level level_of_scalars(const std::vector<double>& scalars) {
    Level level = Level::Finite;
    for (const double scalar : scalars) {
        if (!std::isfinite(scalar)) level = std::max(level, std::isnan(scalar) ? Level::NaN : Level::Inf);
    }
    return level;
}

std::pair<std::int64_t, std::int64_t> bytes_of(const Tensor& tensor) {
    if (tensor.layout() != at::kStrided || tensor.numel() == 0) return {0, 0};
    std::int64_t last = tensor.storage_offset();
    for (std::int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
    const auto size = static_cast<std::int64_t>(tensor.element_size());
    return {tensor.storage_offset() * size, (last + 1) * size};
}

}  // namespace

struct OpWatch::Callbacks {
    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
        auto context = std::make_unique<Context>();
        OpWatch* watch = active_watch.load();
        if (watch == nullptr) return context;
        const std::lock_guard lock(watch->mutex);
        try {
            ThreadPlace& here = place_in(watch);
            if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
                context->is_node = true;
                watch->enter_node(function);
            } else if (function.operator_name()) {  // not the engine's own brackets around a node
                context->is_op = true;
                Running& running = context->running.emplace();
                if (here.depth++ == 0) {
                    here.outermost = &running;
                    watch->begin(function, running);
                } else {
                    watch->begin_inner(function, running);
                }
            }
        } catch (const std::exception& exception) {
            if (watch->error.empty()) watch->error = exception.what();
        }
        return context;
    }

    static void end(const at::RecordFunction& function, at::ObserverContext* observer) {
        auto* context = static_cast<Context*>(observer);
        OpWatch* watch = active_watch.load();
        if (context == nullptr || watch == nullptr) return;
        const std::lock_guard lock(watch->mutex);
        ThreadPlace& here = place_in(watch);
        try {
            if (context->is_node && !here.nodes.empty()) {
                here.last_node = std::move(here.nodes.back());
                here.nodes.pop_back();
            }
            if (!context->is_op || here.depth == 0) return;
            if (--here.depth == 0) {
                here.outermost = nullptr;
                watch->end(function, *context->running);
            } else if (here.outermost != nullptr) {
                watch->end_inner(function, *context->running, *here.outermost);
            }
        } catch (const std::exception& exception) {
            if (watch->error.empty()) watch->error = exception.what();
        }
    }
};

OpWatch::OpWatch() {
    OpWatch* nobody = nullptr;
    const bool alone = active_watch.compare_exchange_strong(nobody, this);
    MANTISSA_ASSERT(alone);
    t_place = {this, 0, nullptr, {}, {}};  // an earlier watch may have had this address
    m_handle = at::addThreadLocalCallback(at::RecordFunctionCallback(Callbacks::start, Callbacks::end)
                                              .needsInputs(true)
                                              .needsOutputs(true)
                                              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

OpWatch::~OpWatch() {
    at::removeCallback(m_handle);
    active_watch = nullptr;
}

void OpWatch::name(const Tensor& leaf, const std::string& name, const std::string& of_phase, bool may_be_meant) {
    const Unseen unseen;
    Leaf& made = m_leaves.emplace_back();
    made = {of_phase, read_tensor(leaf), may_be_meant, std::nullopt};
    made.reading.name = name;
    m_leaf_of[leaf.unsafeGetTensorImpl()] = &made;
    m_kept.emplace_back(leaf.getIntrusivePtr());
    if (const void* storage = storage_of(leaf)) {
        m_leaf_of[storage] = &made;
        m_kept_storages.push_back(leaf.storage().getWeakStorageImpl());
    }
    if (of_phase == "parameter") {
        std::vector<std::int64_t> shape = made.reading.shape;
        m_parameter_shapes.insert(shape);
        std::reverse(shape.begin(), shape.end());
        m_parameter_shapes.insert(std::move(shape));
    }
    if (of_phase == "data" && leaf.dim() > 0) {
        if (!m_batch) m_batch = leaf.size(0);
        made.sample = first_bad_row(leaf);
    }
}

const Leaf* OpWatch::leaf_of(const Tensor& tensor) const {
    auto found = m_leaf_of.find(tensor.unsafeGetTensorImpl());
    if (found == m_leaf_of.end()) found = m_leaf_of.find(storage_of(tensor));
    return found == m_leaf_of.end() ? nullptr : found->second;
}

// The latest op that wrote into the tensor and left it as bad as it is now; else the latest that wrote into it at all.
int OpWatch::producer_of(const Tensor& tensor, Level level) const {
    const auto maker = m_makers.find(tensor.unsafeGetTensorImpl());
    const int made = maker == m_makers.end() ? no_op : maker->second;
    const auto writes = m_writes.find(storage_of(tensor));
    if (writes == m_writes.end()) return made;
    const auto [begin, end] = bytes_of(tensor);
    int latest = no_op;
    for (auto write = writes->second.rbegin(); write != writes->second.rend() && write->op > made; ++write) {
        if (write->end <= begin || end <= write->begin) continue;
        if (latest == no_op) latest = write->op;
        if (ops[static_cast<std::size_t>(write->op)].level >= level) return write->op;
        if (write->begin <= begin && end <= write->end) break;  // nothing older is left of it
    }
    return level == Level::Finite || made == no_op ? std::max(latest, made) : made;
}

Operand OpWatch::operand(const Tensor& tensor, const TensorReading& reading) const {
    const Level level = level_of(reading);
    return {producer_of(tensor, level), leaf_of(tensor), level};
}

void OpWatch::begin(const at::RecordFunction& function, Running& running) {
    const Unseen unseen;
    const Node* node = t_place.node();
    running.name = bare_op_name(function.name());
    const OpArguments arguments(function, running.name);
    running.first = static_cast<int>(ops.size());
    running.elements = arguments.elements();
    for (std::size_t element = 0; element < running.elements; ++element) {
        SeenOp op;
        op.reading.index = static_cast<std::int64_t>(ops.size());
        op.reading.op = op.reading.kernel = running.name;
        op.reading.phase = node != nullptr ? "backward" : running.name.starts_with("amp_") ? "unscale" : phase;
        op.reading.scalars = arguments.scalars();
        op.first_sequence = static_cast<std::int64_t>(at::sequence_number::peek());
        for (const Tensor& tensor : arguments.operands(element)) {
            TensorReading reading = read_tensor(tensor);
            op.operands.push_back(operand(tensor, reading));
            if (op.operands.back().leaf != nullptr) reading.name = op.operands.back().leaf->reading.name;
            op.reading.operands.push_back(std::move(reading));
            if (const void* storage = storage_of(tensor)) running.storages.insert(storage);
        }
        if (node != nullptr) {
            if (!node->op.empty()) op.reading.op = node->op;
            op.reading.module = node->module;
            op.forward = node->forward;
        } else {
            op.reading.module = place_of(op);
        }
        running.written.push_back(arguments.written(element));
        for (const Tensor& tensor : running.written.back()) {
            if (const void* storage = storage_of(tensor)) running.written_storages.insert(storage);
        }
        ops.push_back(std::move(op));
    }
}

// Where nobody tells the place, the weight that took part does.
std::string OpWatch::place_of(const SeenOp& op) const {
    std::string module;
    if (place) {
        module = place();
    } else {
        for (const std::string& path : current_module_paths()) module += (module.empty() ? "" : "|") + path;
    }
    for (const Operand& one : op.operands) {
        if (!module.empty()) break;
        if (one.leaf == nullptr || one.leaf->phase != "parameter") continue;
        const std::string& path = one.leaf->reading.name;
        module = path.substr(0, path.rfind('.') == std::string::npos ? 0 : path.rfind('.'));
    }
    return module.empty() && op.reading.phase == "loss" ? "loss" : module;
}

void OpWatch::end(const at::RecordFunction& function, Running& running) {
    const Unseen unseen;
    for (std::size_t element = 0; element < running.elements; ++element) {
        const int index = running.first + static_cast<int>(element);
        SeenOp& op = ops[static_cast<std::size_t>(index)];
        op.end_sequence = static_cast<std::int64_t>(at::sequence_number::peek());
        std::vector<Tensor> results = op_results(function, element, running.elements);
        for (const Tensor& tensor : running.written[element]) {
            const auto is_same = [&](const Tensor& one) { return one.is_same(tensor); };
            if (std::none_of(results.begin(), results.end(), is_same)) results.push_back(tensor);
        }
        bool shows = only_allocates(running.name);
        for (const Tensor& result : results) {
            TensorReading reading = shows ? TensorReading{} : read_tensor(result);
            const Level level = level_of(reading);
            op.nonfinite_results += level > Level::Finite;
            const void* storage = storage_of(result);
            const bool is_view = running.storages.contains(storage) && !running.written_storages.contains(storage);
            made_by(index, result, is_view);
            op.only_shows = op.only_shows || is_view || shows;
            if (level > op.level || op.reading.result.dtype.empty()) {
                op.level = level;
                op.reading.result = std::move(reading);
                if (level > Level::Finite) op.sample = sample_of(op, result);
            }
        }
        if (keeps_values(running.name)) hand_on_name(op, results);
        if (running.inner && running.elements == 1) op.inner = running.inner;
        judge(op);
    }
}

void OpWatch::judge(SeenOp& op) {
    Level before = Level::Finite;
    for (const Operand& one : op.operands) before = std::max(before, one.level);
    const bool is_meant = op.level <= level_of_scalars(op.reading.scalars);
    op.reading.is_birth = op.level > before && !is_meant && !only_allocates(op.reading.kernel);
    op.is_probing = op.reading.is_birth && op.level == Level::Inf && op.reading.phase == "backward" && scale_is_probing && loss_scale > 1;
    if (op.is_probing) op.reading.is_birth = false;
    if (!op.reading.is_birth) {
        op.inner.reset();
    } else if (op.inner) {
        op.reading.kernel = op.inner->op;
    }
}

void OpWatch::begin_inner(const at::RecordFunction& function, Running& running) {
    ThreadPlace& here = t_place;
    if (here.outermost == nullptr || here.outermost->first == no_op || here.outermost->inner || here.outermost->elements > 1) return;
    const SeenOp& outer = ops[static_cast<std::size_t>(here.outermost->first)];
    for (const Operand& one : outer.operands) {
        if (one.level == Level::NaN) return;  // nothing worse can be born
    }
    const Unseen unseen;
    running.name = bare_op_name(function.name());
    if (only_allocates(running.name)) return;
    const OpArguments arguments(function, running.name);
    if (arguments.elements() > 1) return;
    OpReading& op = running.inner.emplace();
    op.op = op.kernel = running.name;
    op.phase = outer.reading.phase;
    op.module = outer.reading.module;
    op.scalars = arguments.scalars();
    for (const Tensor& tensor : arguments.operands(0)) {
        op.operands.push_back(read_tensor(tensor));
        running.inner_before = std::max(running.inner_before, level_of(op.operands.back()));
    }
    running.written.push_back(arguments.written(0));
}

void OpWatch::end_inner(const at::RecordFunction& function, Running& running, Running& outer) {
    if (!running.inner || outer.inner) return;
    const Unseen unseen;
    std::vector<Tensor> results = op_results(function, 0, 1);
    results.insert(results.end(), running.written[0].begin(), running.written[0].end());
    Level after = Level::Finite;
    for (const Tensor& result : results) {
        TensorReading reading = read_tensor(result);
        const Level level = level_of(reading);
        if (level > after || running.inner->result.dtype.empty()) running.inner->result = std::move(reading);
        after = std::max(after, level);
    }
    if (after > running.inner_before && after > level_of_scalars(running.inner->scalars)) outer.inner = std::move(running.inner);
}

void OpWatch::made_by(int index, const Tensor& result, bool is_view) {
    m_makers[result.unsafeGetTensorImpl()] = index;
    m_kept.emplace_back(result.getIntrusivePtr());
    const void* storage = storage_of(result);
    if (storage == nullptr || is_view) return;
    const auto [begin, end] = bytes_of(result);
    std::vector<Write>& writes = m_writes[storage];
    if (writes.empty()) m_kept_storages.push_back(result.storage().getWeakStorageImpl());
    writes.push_back({index, begin, end});
}

// A weight in another dtype is still that weight.
void OpWatch::hand_on_name(const SeenOp& op, const std::vector<Tensor>& results) {
    if (op.operands.empty() || op.operands[0].leaf == nullptr || op.operands[0].leaf->phase != "parameter") return;
    for (const Tensor& result : results) m_leaf_of[result.unsafeGetTensorImpl()] = op.operands[0].leaf;
}

std::optional<std::int64_t> OpWatch::sample_of(const SeenOp& op, const Tensor& result) const {
    if (!m_batch || result.dim() == 0 || result.size(0) != *m_batch) return std::nullopt;
    const std::string& at = op.reading.phase;
    if (at == "update" || at == "unscale") return std::nullopt;
    // A gradient of a weight that happens to be as high as the batch tells of no sample.
    if (at == "backward" && m_parameter_shapes.contains(result.sizes().vec())) return std::nullopt;
    return first_bad_row(result);
}

void OpWatch::enter_node(const at::RecordFunction& function) {
    Node node{op_of_node(function.name()), "", no_op};
    // The forward op within which this node was made.
    for (const SeenOp& seen : ops) {
        if (seen.reading.phase == "backward" || seen.end_sequence < 0) continue;
        if (seen.first_sequence <= function.seqNr() && function.seqNr() < seen.end_sequence) {
            node = {seen.reading.op, seen.reading.module, static_cast<int>(seen.reading.index)};
        }
    }
    t_place.nodes.push_back(std::move(node));
}

}  // namespace mantissa
