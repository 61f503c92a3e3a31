// save_state and load_state: which folder, which process writes what, and that all of them agree.
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "engine/accelerator.h"
#include "engine/collectives.h"
#include "engine/process_group.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

// The processes of a run act together: what one of them can't do none does.
class Together {
  public:
    explicit Together(std::shared_ptr<ProcessGroup> group) : m_group(std::move(group)) {}
    [[nodiscard]] std::int64_t rank() const { return m_group ? m_group->rank() : 0; }
    [[nodiscard]] bool is_main() const { return rank() == 0; }
    [[nodiscard]] std::int64_t from_main(std::int64_t value) const {
        if (!m_group) return value;
        torch::Tensor tensor = torch::tensor({value}, at::kLong);
        m_group->broadcast(tensor, 0);
        return tensor.item<std::int64_t>();
    }
    /// Throws on every process when it went wrong on one.
    void agree(const Result<void>& done) const {
        if (const auto agreed = collectives::agree(m_group.get(), done); !agreed) throw EngineError(agreed.error());
    }

  private:
    std::shared_ptr<ProcessGroup> m_group;
};

template <typename Call>
Result<void> caught(Call&& call) {
    try {
        call();
        return {};
    } catch (const EngineError& problem) {
        return problem.error();
    } catch (const std::exception& problem) {
        return Error{ErrorCode::BadPlan, problem.what(), ""};
    }
}

template <typename T>
T taken(Result<T> result) {
    if (!result) throw EngineError(result.error());
    return std::move(result).value();
}
void required(const Result<void>& result) {
    if (!result) throw EngineError(result.error());
}

fs::path automatic_folder(const ProjectOptions& project, const char* what) {
    if (!project.automatic_checkpoint_naming) {
        throw EngineError({ErrorCode::BadPlan, std::string(what) + " got no folder, and automatic_checkpoint_naming is off",
                           "give a folder, or set project.directory and project.automatic_checkpoint_naming"});
    }
    if (project.directory.empty()) {
        throw EngineError({ErrorCode::BadPlan, "automatic_checkpoint_naming has no project.directory", "say where checkpoints/ shall lie"});
    }
    if (project.total_limit.value_or(1) < 1) {
        throw EngineError({ErrorCode::BadPlan, "project.total_limit is " + std::to_string(*project.total_limit),
                           "use 1 or more (the last and the one before stay in any case)"});
    }
    return project.directory / "checkpoints";
}

// The next number lies above every one that is there: the highest number stays the newest state.
std::int64_t next_number(const ProjectOptions& project, std::int64_t saved) {
    if (!project.automatic_checkpoint_naming || project.directory.empty()) return saved;
    const auto there = checkpoint_numbers(project.directory / "checkpoints");
    return std::max(saved, there.empty() ? 0 : there.back() + 1);
}

}  // namespace

fs::path Accelerator::save_state(const fs::path& folder) {
    AcceleratorCore& core = *m_core;
    const ProjectOptions& project = core.options.project;
    const bool is_automatic = folder.empty();
    const fs::path parent = is_automatic ? automatic_folder(project, "save_state") : fs::path();
    const fs::path target = is_automatic ? checkpoint_path(parent, core.saved_states.next_number) : folder;
    const Together together(core.options.processes);
    std::optional<CheckpointWriter> writer;
    together.agree(caught([&] {
        if (together.is_main()) writer.emplace(taken(CheckpointWriter::begin(target)));
    }));
    const fs::path hidden = hidden_checkpoint(target, together.from_main(::getpid()));
    if (is_automatic) ++core.saved_states.next_number;
    Checkpoint checkpoint;
    const auto written = caught([&] {
        core.saved_states.save_hooks.call(hidden);
        checkpoint = gather_state(core);
        if (writer) required(writer->add_shared(checkpoint));
        required(write_rank_files(hidden, together.rank(), checkpoint));
    });
    fs::path place = target;
    try {
        together.agree(written);
        together.agree(caught([&] {
            if (writer) place = taken(writer->finish(checkpoint));
        }));
    } catch (...) {
        if (is_automatic) --core.saved_states.next_number;
        throw;
    }
    if (is_automatic && project.total_limit && together.is_main()) {
        // The new one is whole: an old one that stays is no reason to stop training.
        if (const auto removed = remove_old_checkpoints(parent, *project.total_limit); !removed) log::warning(removed.error().message);
    }
    return place;
}

LoadedState Accelerator::load_state(const fs::path& folder) {
    AcceleratorCore& core = *m_core;
    const ProjectOptions& project = core.options.project;
    const Together together(core.options.processes);
    LoadedState loaded;
    loaded.folder = folder;
    Checkpoint checkpoint;
    together.agree(caught([&] {
        if (folder.empty()) {
            const fs::path parent = automatic_folder(project, "load_state");
            const auto numbers = checkpoint_numbers(parent);
            if (numbers.empty()) {
                throw EngineError({ErrorCode::InputOutput, parent.string() + " holds no checkpoint", "save one first, or give a folder"});
            }
            loaded.folder = checkpoint_path(parent, numbers.back());
        }
        checkpoint = taken(read_checkpoint(loaded.folder, together.rank()));
        check_state(core, checkpoint);
        core.saved_states.load_hooks.call(loaded.folder);
    }));
    together.agree(caught([&] { apply_state(core, checkpoint, loaded.notices); }));
    core.saved_states.next_number = next_number(project, checkpoint.accelerator.fact<std::int64_t>("next_number"));
    loaded.step = checkpoint.step;
    loaded.epoch = checkpoint.epoch;
    loaded.saved_precision = checkpoint.mixed_precision;
    const std::int64_t processes = core.options.processes ? core.options.processes->size() : 1;
    if (processes != checkpoint.processes) {
        loaded.notices.push_back("The checkpoint is of " + std::to_string(checkpoint.processes) + " process(es), " +
                                 std::to_string(processes) + " go on: batches and random numbers are divided otherwise.");
    }
    for (const std::string& notice : loaded.notices) log::warning(notice);
    return loaded;
}

Checkpoint Accelerator::state() const { return gather_state(*m_core); }

std::vector<std::string> Accelerator::take_state(const Checkpoint& checkpoint) {
    std::vector<std::string> notices;
    check_state(*m_core, checkpoint);
    apply_state(*m_core, checkpoint, notices);
    return notices;
}

void Accelerator::register_for_checkpointing(std::shared_ptr<Stateful> object) {
    if (!object) throw EngineError({ErrorCode::BadPlan, "an empty object was registered for checkpointing", "give one that is there"});
    m_core->saved_states.objects.push_back(std::move(object));
}

std::vector<fs::path> Accelerator::save_weights_once(const NamedTensors& tensors, const fs::path& folder,
                                                     const SaveModelOptions& options) {
    const Together together(m_core->options.processes);
    std::vector<fs::path> files;
    together.agree(caught([&] {
        if (together.is_main()) files = save_weights(tensors, folder, options);
    }));
    return files;
}

}  // namespace mantissa
