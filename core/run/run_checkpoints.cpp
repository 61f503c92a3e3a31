#include "run/run_checkpoints.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "engine/engine_error.h"
#include "plan/plan_file.h"
#include "record/meta_keys.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t always_kept = 2;  // the last may be the one that a crash damages

void require(const Result<void>& done) {
    if (!done) throw EngineError(done.error());
}

std::string reason_of(const std::exception& exception) {
    if (const auto* ours = dynamic_cast<const EngineError*>(&exception)) return ours->error().message;
    const std::string text = exception.what();
    return text.substr(0, text.find('\n'));
}

// A reader sees it whole or not at all.
void remove_whole(const fs::path& checkpoint) {
    std::error_code ignored;
    const fs::path hidden = checkpoint.parent_path() / ("." + checkpoint.filename().string() + ".old");
    fs::rename(checkpoint, hidden, ignored);
    fs::remove_all(hidden, ignored);
}

}  // namespace

void RunCheckpoints::write(std::int64_t steps_done, const fs::path& target) {
    require(make_folders(target.parent_path()));
    const fs::path hidden = target.parent_path() / (".checkpoint_" + std::to_string(steps_done) + ".whole");
    std::error_code failed;
    fs::remove_all(hidden, failed);
    try {
        m_parts.accelerator.save_state(hidden);
        write_plan(hidden / "plan.json");
        require(sync_folder(hidden));
        fs::rename(hidden, target);
        require(sync_folder(target.parent_path()));
    } catch (...) {
        fs::remove_all(hidden, failed);
        throw;
    }
}

// With the sources of its settings where the run has them.
void RunCheckpoints::write_plan(const fs::path& file) {
    std::error_code failed;
    if (!fs::exists(m_session.folder.plan(), failed)) return require(write_plan_file(file, {m_plan, {}, {}}));
    const Result<std::string> plan = read_file(m_session.folder.plan());
    if (!plan) throw EngineError(plan.error());
    require(write_file_atomically(file, *plan));
}

void RunCheckpoints::save(std::int64_t steps_done) {
    const fs::path target = m_session.folder.checkpoints() / ("checkpoint_" + std::to_string(steps_done));
    if (m_saved_at != steps_done) {
        try {
            write(steps_done, target);
        } catch (const std::exception& exception) {
            return tell_failure(steps_done, reason_of(exception));
        }
        m_saved_at = steps_done;
        m_saved.push_back(target);
        remove_old();
    }
    m_session.recorder.meta(meta::checkpoint, target.string());
    m_session.recorder.meta(meta::checkpoint_error, "");
    m_session.recorder.meta(meta::checkpoint_ns, std::to_string(now_ns()));
}

void RunCheckpoints::remove_old() {
    const std::size_t keep = std::max(always_kept, static_cast<std::size_t>(m_plan.checkpoint.keep));
    while (m_saved.size() > keep) {
        remove_whole(m_saved.front());
        m_saved.erase(m_saved.begin());
    }
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
