#pragma once
// What takes part in an Accelerator's save_state and load_state beside what it prepared: objects of the program, hooks, and the
// counter of automatic names. Thread: the one that trains.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"

namespace mantissa {

class AcceleratorCore;

/// What load_state() did.
struct LoadedState {
    std::filesystem::path folder;
    std::int64_t step = 0;   // attempts that were done: number of the next
    std::int64_t epoch = 0;  // of the first prepared loader
    Precision saved_precision = Precision::No;
    std::vector<std::string> notices;  // sentences, logged too: what is not as it was saved
};

/// Called with the folder: before anything is written (files that it adds become part of the checkpoint), or before anything changes.
using StateHook = std::function<void(const std::filesystem::path& folder)>;

class HookHandle {
  public:
    HookHandle() = default;
    HookHandle(std::weak_ptr<std::vector<std::pair<int, StateHook>>> hooks, int id) : m_hooks(std::move(hooks)), m_id(id) {}
    void remove();

  private:
    std::weak_ptr<std::vector<std::pair<int, StateHook>>> m_hooks;
    int m_id = 0;
};

class StateHooks {
  public:
    [[nodiscard]] HookHandle add(StateHook hook);
    void call(const std::filesystem::path& folder) const;

  private:
    std::shared_ptr<std::vector<std::pair<int, StateHook>>> m_hooks = std::make_shared<std::vector<std::pair<int, StateHook>>>();
    int m_next = 0;
};

struct SavedStates {
    std::vector<std::shared_ptr<Stateful>> objects;  // register_for_checkpointing, in order
    StateHooks save_hooks, load_hooks;
    std::int64_t next_number = 0;  // of the next automatic name
};

/// Everything that a checkpoint holds, as it is now; tensors are the live ones.
[[nodiscard]] Checkpoint gather_state(const AcceleratorCore& core);
/// Throws a sentence that names what differs, before anything has changed.
void check_state(const AcceleratorCore& core, const Checkpoint& checkpoint);
/// After check_state. Objects of the program and loaders come first and are put back when one of them refuses; notices are added.
void apply_state(AcceleratorCore& core, const Checkpoint& checkpoint, std::vector<std::string>& notices);

}  // namespace mantissa
