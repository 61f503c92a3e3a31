#include "run/kept_states.h"

#include <algorithm>
#include <system_error>

#include "base/log.h"
#include "base/numbers.h"
#include "checkpoint/checkpoint_copy.h"
#include "record/checkpoint_info.h"
#include "record/meta_keys.h"
#include "run/run_checkpoints.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

// Between two steps the gradients have been used, and the next step begins without them.
void leave_out_gradients(Checkpoint& state) { state.accelerator.tensors.clear(); }

std::string folder_name(std::int64_t step) { return "state_" + std::to_string(step); }

}  // namespace

KeptStates::KeptStates(const LoopContext& context) : m_context(context) {
    m_context.incident_sources.write_states = [this](const fs::path& folder, std::int64_t step) {
        return write(folder, step);
    };
    if (context.plan.observe.keep_states && !context.parts.ranks) return;
    m_keeps = false;
    m_reason = context.parts.ranks ? "a run of several processes keeps none: a step is done again from a checkpoint or from the seed" : "observe.keep_states is off";
    tell();
}

void KeptStates::before_step(std::int64_t step) {
    if (!m_keeps) return;
    if (m_first_step < 0) m_first_step = step;
    if ((step - m_first_step) % m_context.plan.observe.keep_states_every == 0) keep(step);
    m_start.note(step, m_context.parts, m_context.state);
}

void KeptStates::keep(std::int64_t step) {
    Checkpoint state = m_context.parts.accelerator.state();
    leave_out_gradients(state);
    const std::int64_t bytes = tensor_bytes(state);
    // Both together must fit: one alone would soon be too near to what it is kept for.
    if (2 * bytes > m_context.plan.observe.keep_states_mib << 20) return give_up(bytes);
    // The older one's memory becomes that of the new one.
    copy_tensors(state, std::move(m_older.state));
    const std::int64_t former = m_older.bytes + m_newer.bytes;
    m_older = std::move(m_newer);
    m_newer = {step, std::move(state), bytes};
    if (m_older.bytes + m_newer.bytes != former) tell();
}

void KeptStates::give_up(std::int64_t bytes) {
    m_keeps = false;
    m_older = m_newer = {};
    m_reason = "two states of this run are " + readable_bytes(static_cast<std::uint64_t>(2 * bytes)) +
               ", more than observe.keep_states_mib = " + std::to_string(m_context.plan.observe.keep_states_mib) + " allows";
    log::warning(m_reason + ": a faulty step can be done again from a checkpoint or from the seed only");
    tell();
}

void KeptStates::tell() const {
    RunRecorder& recorder = m_context.session.recorder;
    const int count = (m_older.step >= 0 ? 1 : 0) + (m_newer.step >= 0 ? 1 : 0);
    recorder.meta(meta::kept_states, std::to_string(count));
    recorder.meta(meta::kept_states_bytes, std::to_string(m_older.bytes + m_newer.bytes));
    recorder.meta(meta::kept_states_reason, m_reason);
}

// The weights, the optimizer and the schedule are as they were; the rest goes back to what was noted.
std::optional<Checkpoint> KeptStates::start_of(std::int64_t step) const {
    const Accelerator& accelerator = m_context.parts.accelerator;
    const bool is_before_update = accelerator.window().attempts == step;
    const bool was_skipped = accelerator.last_step().step == step && accelerator.last_step().skipped;
    if (m_start.step() != step || !(is_before_update || was_skipped)) return std::nullopt;
    Checkpoint state = accelerator.state();
    // A batch norm's statistics have moved on: they are back after a skip, and until then their former values lie beside.
    const bool moves_buffers = !m_context.parts.bare_model().buffers().empty();
    std::vector<torch::Tensor> buffers;
    for (const auto& [name, tensor] : state.accelerator.tensors)
        if (name.starts_with("saved.0.")) buffers.push_back(tensor);
    const bool are_back = was_skipped && accelerator_options(m_context.plan).batch_norm_on_skip == BatchNormOnSkip::Restore;
    if (moves_buffers && buffers.empty() && !are_back) return std::nullopt;
    NamedTensors& model = state.models.front();
    for (std::size_t i = 0; i < buffers.size(); ++i) model[model.size() - buffers.size() + i].second = buffers[i];

    m_start.put_into(state);
    leave_out_gradients(state);
    return state;
}

KeptStateFiles KeptStates::write(const fs::path& folder, std::int64_t step) {
    KeptStateFiles files;
    const bool is_known = std::find(m_incidents.begin(), m_incidents.end(), step) != m_incidents.end();
    if (!m_keeps) {
        files.reason = m_reason;
        return files;
    }
    if (!is_known && static_cast<std::int64_t>(m_incidents.size()) >= incidents_with_states) {
        files.reason = "the first " + std::to_string(incidents_with_states) +
                       " incidents of a run take states along; this step is done again from one of theirs";
        return files;
    }
    const Kept& older = m_older.step >= 0 ? m_older : m_newer;
    std::vector<std::pair<std::int64_t, const Checkpoint*>> states;
    if (older.step >= 0 && older.step <= step) states.emplace_back(older.step, &older.state);
    const std::optional<Checkpoint> start = start_of(step);
    if (start && older.step != step) states.emplace_back(step, &*start);
    for (const auto& [of_step, state] : states) {
        const Result<std::int64_t> written = write_state(folder / folder_name(of_step), *state);
        if (!written) {
            files.reason = "the state of step " + std::to_string(of_step) + " could not be written: " + written.error().message;
            log::warning(files.reason);
            break;
        }
        files.names.push_back(folder_name(of_step));
        files.bytes += *written;
    }
    if (!files.names.empty() && !is_known) m_incidents.push_back(step);
    return files;
}

Result<std::int64_t> KeptStates::write_state(const fs::path& folder, const Checkpoint& state) const {
    std::error_code failed;
    if (!fs::exists(folder, failed)) {
        auto writer = CheckpointWriter::begin(folder);
        if (!writer) return writer.error();
        const auto plan = write_run_plan(m_context.session.folder, m_context.plan, writer->folder() / "plan.json");
        if (!plan) return plan.error();
        if (const auto added = writer->add_shared(state); !added) return added.error();
        if (const auto added = write_rank_files(writer->folder(), 0, state); !added) return added.error();
        if (const auto finished = writer->finish(state); !finished) return finished.error();
    }
    const auto info = read_checkpoint_info(folder);
    if (!info) return info.error();
    return info->bytes;
}

}  // namespace mantissa
