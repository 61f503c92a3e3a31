#include "run/run_checkpoints.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "checkpoint/checkpoint_files.h"
#include "engine/engine_error.h"
#include "plan/plan_file.h"
#include "record/meta_keys.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

void require(const Result<void>& done) {
    if (!done) throw EngineError(done.error());
}

std::string reason_of(const std::exception& exception) {
    if (const auto* ours = dynamic_cast<const EngineError*>(&exception)) return ours->error().message;
    const std::string text = exception.what();
    return text.substr(0, text.find('\n'));
}

}  // namespace

RunCheckpoints::RunCheckpoints(const RunPlan& plan, RunParts& parts, RunSession& session)
    : m_plan(plan),
      m_parts(parts),
      m_session(session),
      m_plan_hook(parts.accelerator.register_save_state_pre_hook(
          [this](const fs::path& hidden) { require(write_run_plan(m_session.folder, m_plan, hidden / "plan.json")); })) {}

Result<void> write_run_plan(const RunFolder& run, const RunPlan& plan, const fs::path& file) {
    std::error_code failed;
    if (!fs::exists(run.plan(), failed)) return write_plan_file(file, {plan, {}, {}});
    const Result<std::string> text = read_file(run.plan());
    if (!text) return text.error();
    return write_file_atomically(file, *text);
}

void RunCheckpoints::save(std::int64_t steps_done) {
    const fs::path target = checkpoint_path(m_session.folder.checkpoints(), steps_done);
    if (m_saved_at != steps_done) {
        try {
            Result<void> made = m_parts.is_main() ? make_folders(target.parent_path()) : Result<void>();
            if (m_parts.ranks) made = m_parts.ranks->agree(made);
            require(made);
            m_parts.accelerator.save_state(target);
        } catch (const std::exception& exception) {
            return tell_failure(steps_done, reason_of(exception));
        }
        m_saved_at = steps_done;
        const auto removed =
            m_parts.is_main() ? remove_old_checkpoints(target.parent_path(), m_plan.checkpoint.keep) : Result<void>();
        if (!removed) log::warning(describe(removed.error()));
    }
    m_session.recorder.meta(meta::checkpoint, target.string());
    m_session.recorder.meta(meta::checkpoint_error, "");
    m_session.recorder.meta(meta::checkpoint_ns, std::to_string(now_ns()));
}

void RunCheckpoints::tell_failure(std::int64_t steps_done, const std::string& why) {
    log::warning("the checkpoint after " + std::to_string(steps_done) + " steps could not be saved: " + why);
    const nlohmann::json detail{{"reason", why}};
    m_session.recorder.incident({0, steps_done, "checkpoint", "checkpoint_failed", "warning", "", "", "",
                                 detail.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
    m_session.recorder.meta(meta::checkpoint_error, why);
    m_session.recorder.meta(meta::checkpoint_ns, std::to_string(now_ns()));
}

}  // namespace mantissa
