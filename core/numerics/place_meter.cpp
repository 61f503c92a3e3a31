#include "numerics/place_meter.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/assert.h"
#include "engine/script_paths.h"
#include "numerics/op_arguments.h"
#include "numerics/op_names.h"
#include "numerics/tensor_reading.h"
#include "record/place_name.h"

namespace mantissa {
namespace {

std::atomic<PlaceMeter*> active_meter{nullptr};

struct ThreadPlace {
    const PlaceMeter* meter = nullptr;
    int depth = 0;               // aten ops that are running
    std::vector<bool> nodes;     // running autograd nodes: is it a derivative of the place
};
thread_local ThreadPlace t_place;

ThreadPlace& place_in(const PlaceMeter* meter) {
    if (t_place.meter != meter) t_place = {meter, 0, {}};
    return t_place;
}

const void* storage_of(const torch::Tensor& tensor) {
    return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

void take_larger(std::optional<double>& largest, double value) {
    if (!largest || std::isnan(value) || (!std::isnan(*largest) && value > *largest)) largest = value;
}

}  // namespace

struct PlaceMeter::Callbacks {
    struct Context : at::ObserverContext {
        std::optional<Running> running;
        bool is_op = false, is_node = false;
    };

    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
        auto context = std::make_unique<Context>();
        PlaceMeter* meter = active_meter.load();
        if (meter == nullptr) return context;
        const std::lock_guard lock(meter->m_mutex);
        ThreadPlace& here = place_in(meter);
        if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
            context->is_node = true;
            here.nodes.push_back(meter->is_derivative(function));
        } else if (function.operator_name()) {
            context->is_op = true;
            if (here.depth++ == 0) context->running = meter->begin(function);
        }
        return context;
    }

    static void end(const at::RecordFunction& function, at::ObserverContext* observer) {
        auto* context = static_cast<Context*>(observer);
        PlaceMeter* meter = active_meter.load();
        if (context == nullptr || meter == nullptr) return;
        const std::lock_guard lock(meter->m_mutex);
        ThreadPlace& here = place_in(meter);
        if (context->is_node && !here.nodes.empty()) here.nodes.pop_back();
        if (context->is_op && here.depth > 0) --here.depth;
        if (context->running) meter->end(function, *context->running);
    }
};

PlaceMeter::PlaceMeter(Place place, const torch::nn::Module& model) : m_place(std::move(place)) {
    for (const auto& entry : model.named_parameters()) {
        const std::size_t dot = entry.key().rfind('.');
        m_module_of[storage_of(entry.value())] = entry.key().substr(0, dot == std::string::npos ? 0 : dot);
    }
    PlaceMeter* nobody = nullptr;
    const bool alone = active_meter.compare_exchange_strong(nobody, this);
    MANTISSA_ASSERT(alone);
    t_place = {this, 0, {}};  // an earlier meter may have had this address
    m_handle = at::addThreadLocalCallback(at::RecordFunctionCallback(Callbacks::start, Callbacks::end)
                                              .needsInputs(true)
                                              .needsOutputs(true)
                                              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

PlaceMeter::~PlaceMeter() {
    at::removeCallback(m_handle);
    active_meter = nullptr;
}

void PlaceMeter::set_phase(const std::string& phase) {
    const std::lock_guard lock(m_mutex);
    m_phase = phase;
}

std::optional<double> PlaceMeter::value() const {
    const std::lock_guard lock(m_mutex);
    return m_of_kernel ? m_of_kernel : m_of_others;
}

std::optional<PlaceMeter::Running> PlaceMeter::begin(const at::RecordFunction& function) const {
    Running running;
    running.op = bare_op_name(function.name());
    const bool is_backward = !t_place.nodes.empty() || torch::autograd::get_current_graph_task_id() >= 0;
    const bool wants_backward = m_place.phase == "backward";
    if (is_backward) {
        const bool counts = wants_backward && !t_place.nodes.empty() && t_place.nodes.back() && !only_allocates(running.op);
        if (!counts) return std::nullopt;
        running.chosen = {0};
        running.counts = true;
        return running;
    }
    if (!m_place.name.ends_with(running.op)) return std::nullopt;
    const std::string phase = running.op.starts_with("amp_") ? "unscale" : m_phase;
    running.counts = !wants_backward && phase == m_place.phase;
    if (!running.counts && !wants_backward) return std::nullopt;
    const Unseen unseen;
    const OpArguments arguments(function, running.op);
    running.elements = arguments.elements();
    running.first_sequence = static_cast<std::int64_t>(at::sequence_number::peek());
    for (std::size_t i = 0; i < running.elements; ++i) {
        std::string module = module_of(arguments.operands(i));
        if (module.empty() && phase == "loss") module = "loss";
        if (place_name(module, running.op) != m_place.name) continue;
        running.chosen.push_back(i);
        const std::vector<torch::Tensor> written = arguments.written(i);
        running.written.insert(running.written.end(), written.begin(), written.end());
    }
    return running.chosen.empty() ? std::nullopt : std::optional(std::move(running));
}

void PlaceMeter::end(const at::RecordFunction& function, const Running& running) {
    if (!running.counts) {
        m_sequences.emplace_back(running.first_sequence, static_cast<std::int64_t>(at::sequence_number::peek()));
        return;
    }
    const Unseen unseen;
    std::vector<torch::Tensor> results = running.written;
    for (const std::size_t element : running.chosen) {
        const std::vector<torch::Tensor> of_element = op_results(function, element, running.elements);
        results.insert(results.end(), of_element.begin(), of_element.end());
    }
    const bool is_kernel = m_place.phase != "backward" || running.op == m_place.kernel;
    for (const torch::Tensor& result : results) {
        if (result.defined() && result.is_floating_point()) take_larger(is_kernel ? m_of_kernel : m_of_others, worst_of(read_tensor(result)));
    }
}

bool PlaceMeter::is_derivative(const at::RecordFunction& node) const {
    return std::any_of(m_sequences.begin(), m_sequences.end(),
                       [&](const auto& range) { return range.first <= node.seqNr() && node.seqNr() < range.second; });
}

// Where nobody tells the place, the weight that took part does: as in a birth.
std::string PlaceMeter::module_of(const std::vector<torch::Tensor>& operands) const {
    std::string module;
    for (const std::string& path : current_module_paths()) module += (module.empty() ? "" : "|") + path;
    for (const torch::Tensor& operand : operands) {
        if (!module.empty()) break;
        if (const auto found = m_module_of.find(storage_of(operand)); found != m_module_of.end()) module = found->second;
    }
    return module;
}

}  // namespace mantissa
