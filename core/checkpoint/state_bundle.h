#pragma once
// What an object needs to go on as if it had never stopped: plain facts by name, and tensors by name. It knows nothing of files
// (checkpoint/checkpoint_files.h writes bundles) and nothing of the Accelerator, which gathers them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

using Fact = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

struct StateBundle {
    std::map<std::string, Fact> facts;  // doubles come back with the same bits, non-finite ones too
    std::vector<std::pair<std::string, torch::Tensor>> tensors;  // in order; names are unique

    /// Throws std::runtime_error that names the fact when it is absent or of another type.
    template <typename T>
    [[nodiscard]] const T& fact(const std::string& name) const {
        const auto found = facts.find(name);
        const T* value = found == facts.end() ? nullptr : std::get_if<T>(&found->second);
        if (value == nullptr) refuse_missing(name, found != facts.end());
        return *value;
    }
    [[nodiscard]] const torch::Tensor* tensor(const std::string& name) const;  // null: not there

  private:
    [[noreturn]] static void refuse_missing(const std::string& name, bool is_of_another_type);
};

/// Anything that takes part in save_state/load_state: optimizers, schedulers, loaders, and objects of a program's own
/// (Accelerator::register_for_checkpointing).
class Stateful {
  public:
    virtual ~Stateful() = default;
    [[nodiscard]] virtual StateBundle state() const = 0;
    /// All or nothing: throws before anything of the object has changed when the bundle doesn't fit.
    virtual void load_state(const StateBundle& bundle) = 0;
};

}  // namespace mantissa
