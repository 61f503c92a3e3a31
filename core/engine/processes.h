#pragma once
// The processes that train together, as the Accelerator offers them. Collective calls are made by every process, in the same order;
// with one process all of this is there and costs nothing.
#include <functional>
#include <string_view>

#include "engine/accelerator_core.h"
#include "engine/collectives.h"
#include "engine/seeds.h"

namespace mantissa {

/// While it lives on the first process, the others wait before it; then they go.
class GoesFirst {
  public:
    GoesFirst(std::shared_ptr<ProcessGroup> group, bool is_first);
    ~GoesFirst();
    GoesFirst(const GoesFirst&) = delete;
    GoesFirst& operator=(const GoesFirst&) = delete;

  private:
    std::shared_ptr<ProcessGroup> m_group;
    bool m_is_first;
};

class ProcessCalls {
  public:
    [[nodiscard]] std::int64_t process_index() const { return group() == nullptr ? 0 : group()->rank(); }
    [[nodiscard]] std::int64_t num_processes() const { return group() == nullptr ? 1 : group()->size(); }
    [[nodiscard]] std::int64_t local_process_index() const { return group() == nullptr ? 0 : group()->local_rank(); }
    [[nodiscard]] bool is_main_process() const { return process_index() == 0; }
    [[nodiscard]] bool is_local_main_process() const { return local_process_index() == 0; }
    [[nodiscard]] bool is_last_process() const { return process_index() == num_processes() - 1; }
    void wait_for_everyone() const;
    /// A line on standard output, by the main process alone.
    void print(std::string_view text) const;

    template <typename Function>
    void on_main_process(Function&& function) const {
        if (is_main_process()) std::forward<Function>(function)();
    }
    template <typename Function>
    void on_local_main_process(Function&& function) const {
        if (is_local_main_process()) std::forward<Function>(function)();
    }
    template <typename Function>
    void on_last_process(Function&& function) const {
        if (is_last_process()) std::forward<Function>(function)();
    }
    template <typename Function>
    void on_process(std::int64_t index, Function&& function) const {
        if (process_index() == index) std::forward<Function>(function)();
    }
    [[nodiscard]] GoesFirst main_process_first() const { return {m_core->options.processes, is_main_process()}; }
    [[nodiscard]] GoesFirst local_main_process_first() const { return {m_core->options.processes, is_local_main_process()}; }

    /// This process's share of a list, of a tensor's rows, or of each list or tensor in a map: equal parts in the order of ranks, the
    /// first ones get one more. With padding all get equally many: the last element is repeated.
    template <typename T>
    [[nodiscard]] std::vector<T> split_between_processes(const std::vector<T>& inputs, bool apply_padding = false) const {
        const auto length = static_cast<std::int64_t>(inputs.size());
        const Share share = share_of(length, apply_padding);
        std::vector<T> result(inputs.begin() + share.begin, inputs.begin() + share.end);
        if (share.padding > 0) result.insert(result.end(), static_cast<std::size_t>(share.padding), inputs.back());
        return result;
    }
    [[nodiscard]] torch::Tensor split_between_processes(const torch::Tensor& inputs, bool apply_padding = false) const;
    template <typename Key, typename T>
    [[nodiscard]] std::map<Key, T> split_between_processes(const std::map<Key, T>& inputs, bool apply_padding = false) const {
        std::map<Key, T> result;
        for (const auto& [key, one] : inputs) {
            refuse_other_length(length_of(inputs.begin()->second), length_of(one));
            result.emplace(key, split_between_processes(one, apply_padding));
        }
        return result;
    }

    /// Tensors, also nested in vectors, maps, pairs, tuples and batches, of all processes, along dimension 0. Shapes must be equal.
    template <typename T>
    [[nodiscard]] T gather(const T& nested) const {
        return each(nested, "gather", [this](const torch::Tensor& tensor) { return collectives::gather(group(), tensor); });
    }
    template <typename T>
    [[nodiscard]] T reduce(const T& nested, ReduceOperation operation = ReduceOperation::Sum, double scale = 1.0) const {
        return each(nested, "reduce",
                    [&](const torch::Tensor& tensor) { return collectives::reduce(group(), tensor, operation, scale); });
    }
    template <typename T>
    [[nodiscard]] T broadcast(const T& nested, std::int64_t from_process = 0) const {
        return each(nested, "broadcast",
                    [&](const torch::Tensor& tensor) { return collectives::broadcast(group(), tensor, from_process); });
    }
    template <typename T>
    [[nodiscard]] T pad_across_processes(const T& nested, std::int64_t dim = 0, double pad_index = 0, bool pad_first = false) const {
        static_assert(IsNestedTensor<T>::value, "pad_across_processes() takes tensors and containers of tensors");
        return map_tensors(nested, [&](const torch::Tensor& tensor) {
            return collectives::pad(group(), tensor, dim, pad_index, pad_first);
        });
    }
    /// gather(), without the samples that the last batch repeats to be even. One number per process (a mean, say) is not told apart
    /// from one sample: gather predictions, not means.
    template <typename T>
        requires IsNestedTensor<T>::value
    [[nodiscard]] T gather_for_metrics(const T& nested) const {
        const std::int64_t keep = samples_to_keep();
        return map_tensors(gather(nested), [keep](const torch::Tensor& tensor) {
            return keep < 0 || tensor.dim() == 0 || tensor.size(0) <= keep ? tensor : tensor.slice(0, 0, keep);
        });
    }
    /// The same for lists of numbers or texts.
    template <Gatherable T>
    [[nodiscard]] std::vector<T> gather_for_metrics(const std::vector<T>& objects) const {
        std::vector<T> all = gather_objects(group(), objects);
        const std::int64_t keep = samples_to_keep();
        if (keep >= 0 && keep < static_cast<std::int64_t>(all.size())) all.resize(static_cast<std::size_t>(keep));
        return all;
    }

    /// A sign to all processes (early stop, a bad loss): any of them sets it, all see it once when they check together.
    void set_trigger() { m_flags->trigger = true; }
    [[nodiscard]] bool check_trigger();
    /// Every collective call first compares dtypes and shapes of all processes, and names those that differ. Also
    /// ACCELERATE_DEBUG_MODE.
    void set_debug_mode(bool on) { m_flags->debug_mode = on; }

    void set_seed(std::int64_t seed, const SeedOptions& options = {}) const { mantissa::set_seed(seed, options, process_index()); }

  protected:
    explicit ProcessCalls(std::shared_ptr<AcceleratorCore> core);

    std::shared_ptr<AcceleratorCore> m_core;

  private:
    struct Flags {
        bool trigger = false, debug_mode = false;
    };
    struct Share {
        std::ptrdiff_t begin = 0, end = 0;
        std::int64_t padding = 0;
    };
    [[nodiscard]] ProcessGroup* group() const { return m_core->options.processes.get(); }
    [[nodiscard]] Share share_of(std::int64_t length, bool apply_padding) const;
    template <typename T>
    [[nodiscard]] static std::int64_t length_of(const std::vector<T>& list) {
        return static_cast<std::int64_t>(list.size());
    }
    [[nodiscard]] static std::int64_t length_of(const torch::Tensor& tensor) { return tensor.dim() == 0 ? 1 : tensor.size(0); }
    static void refuse_other_length(std::int64_t first, std::int64_t other);
    /// Rows of the last batch that are no repetitions; -1: keep all.
    [[nodiscard]] std::int64_t samples_to_keep() const;
    template <typename T, typename Function>
    [[nodiscard]] T each(const T& nested, const char* operation, const Function& function) const {
        static_assert(IsNestedTensor<T>::value,
                      "gather(), reduce() and broadcast() take tensors, and vectors, maps, pairs and tuples of tensors");
        return map_tensors(nested, [&](const torch::Tensor& tensor) {
            if (m_flags->debug_mode) collectives::check_same_shape(group(), tensor, operation);
            return function(tensor);
        });
    }

    std::shared_ptr<Flags> m_flags = std::make_shared<Flags>();  // copies of an Accelerator are the same one
};

}  // namespace mantissa
