#pragma once
// The processes of one run, one per rank: started together, ended together. When one ends badly the others can't go on: they are asked
// to end, then killed. The supervisor's one thread only. Internal to core/launch.
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/work_folder.h"
#include "launch/run_claim.h"
#include "record/run_folder.h"

namespace mantissa {

class WorkerGroup {
  public:
    struct Settings {
        std::int64_t processes = 1;
        std::vector<std::pair<std::string, std::string>> environment;       // of all of them
        std::vector<std::pair<std::string, std::string>> main_environment;  // of the first one alone
    };
    /// How one process ended, of all the one that is to be told.
    struct End {
        std::int64_t rank = 0;
        int wait_status = 0;
        std::string last_words;  // the sentence of a failure; may be empty
    };

    WorkerGroup() = default;
    ~WorkerGroup();
    WorkerGroup(WorkerGroup&& other) noexcept;
    WorkerGroup& operator=(WorkerGroup&& other) noexcept;

    /// All or none: when one can't be started those that were are killed.
    Result<void> start(const RunFolder& folder, const RunClaim& claim, const Settings& settings);
    /// Takes up what has ended and keeps the time limits; call it at every event and at least four times a second. Set when all have
    /// ended: the end of the main process, or of the one that drew the others along.
    std::optional<End> poll();
    /// A line of the control protocol, to the main process.
    Result<void> send(const std::string& line) const;
    void kill_all();
    /// SIGTERM to all that run.
    void ask_all();

    [[nodiscard]] bool is_running() const { return !m_members.empty(); }
    [[nodiscard]] pid_t main_pid() const { return m_members.empty() ? -1 : m_members.front().pid; }
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(m_members.size()); }

    /// After the first bad end, or the main process's own. They are asked to end at once.
    static constexpr std::int64_t killed_after_ns = 4'000'000'000;

  private:
    struct Member {
        pid_t pid = -1;
        int channel = -1;
        std::optional<int> wait_status;  // empty: it runs
        std::string last_words;
        bool was_killed_here = false;
    };
    Result<void> start_one(const RunFolder& folder, const RunClaim& claim, const Settings& settings, std::int64_t rank);
    void take_end(Member& member, int wait_status);
    void end_the_rest();
    [[nodiscard]] std::size_t culprit() const;

    std::vector<Member> m_members;  // by rank
    WorkFolder m_meeting_place;
    std::int64_t m_first_end_ns = 0;  // of a bad end, or of the main process's; 0: none yet
    bool m_was_asked = false;
};

}  // namespace mantissa
