#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "engine/precision_choice.h"
#include "engine/processes.h"

namespace mantissa {

ProcessCalls::ProcessCalls(std::shared_ptr<AcceleratorCore> core) : m_core(std::move(core)) {
    m_flags->debug_mode = choose_debug_mode();
}

GoesFirst::GoesFirst(std::shared_ptr<ProcessGroup> group, bool is_first) : m_group(std::move(group)), m_is_first(is_first) {
    if (m_group && !m_is_first) m_group->barrier();
}

GoesFirst::~GoesFirst() {
    if (!m_group || !m_is_first) return;
    try {
        m_group->barrier();
    } catch (const std::exception& error) {  // a broken group; the next collective call says so again
        std::fprintf(stderr, "main_process_first: the other processes could not be told to go on: %s\n", error.what());
    }
}

void ProcessCalls::wait_for_everyone() const {
    if (group() != nullptr) group()->barrier();
}

void ProcessCalls::print(std::string_view text) const {
    if (!is_main_process()) return;
    std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    std::fflush(stdout);
}

ProcessCalls::Share ProcessCalls::share_of(std::int64_t length, bool apply_padding) const {
    const std::int64_t processes = num_processes(), rank = process_index();
    const std::int64_t each = length / processes, extras = length % processes;
    const std::int64_t begin = rank * each + std::min(rank, extras), count = each + (rank < extras ? 1 : 0);
    const std::int64_t largest = each + (extras > 0 ? 1 : 0);
    return {static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(begin + count), apply_padding ? largest - count : 0};
}

torch::Tensor ProcessCalls::split_between_processes(const torch::Tensor& inputs, bool apply_padding) const {
    if (num_processes() == 1) return inputs;
    if (inputs.dim() == 0) {
        throw EngineError({ErrorCode::BadPlan, "split_between_processes got a tensor without rows", "give it one with a first dimension"});
    }
    const Share share = share_of(inputs.size(0), apply_padding);
    const torch::Tensor rows = inputs.slice(0, share.begin, share.end);
    if (share.padding == 0) return rows;
    auto repeats = std::vector<std::int64_t>(static_cast<std::size_t>(inputs.dim()), 1);
    repeats.front() = share.padding;
    return torch::cat({rows, inputs.slice(0, inputs.size(0) - 1).repeat(repeats)}, 0);
}

void ProcessCalls::refuse_other_length(std::int64_t first, std::int64_t other) {
    if (first != other) {
        throw EngineError({ErrorCode::BadPlan,
                           "split_between_processes got a map whose values have " + std::to_string(first) + " and " +
                               std::to_string(other) + " elements",
                           "all values of the map must have the same length"});
    }
}

std::int64_t ProcessCalls::samples_to_keep() const {
    const std::int64_t remainder = m_core->active_loaders->remainder();
    return m_core->active_loaders->end_of_data() && remainder > 0 ? remainder : -1;
}

bool ProcessCalls::check_trigger() {
    bool is_set = m_flags->trigger;
    if (num_processes() > 1) {
        torch::Tensor flag = torch::tensor({is_set ? 1.0F : 0.0F}).to(m_core->device);
        group()->all_reduce(flag, ReduceOperation::Sum);
        is_set = flag.item<float>() >= 1;
    }
    if (is_set) m_flags->trigger = false;
    return is_set;
}

void AcceleratorCore::agree_with_others(PreparedOptimizerState& optimizer) {
    const bool is_bad_here = !std::isfinite(optimizer.sum_of_squares);
    const auto found = collectives::agree(options.processes.get(), {optimizer.found_inf, facts.nonfinite_loss, is_bad_here}, device);
    optimizer.found_inf = found.overflow;
    facts.nonfinite_loss = found.nonfinite_loss;
    if (found.nonfinite_gradient && !is_bad_here) optimizer.sum_of_squares = std::numeric_limits<double>::infinity();
}

}  // namespace mantissa
