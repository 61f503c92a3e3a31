#pragma once
// What each process of a run says of itself while it lives, in a small file beside its record: the step it has done, what it does, and
// since when nothing went on. The kernel frees the file's lock when the process dies, however it dies, so that anyone who can read the
// folder knows who is gone and where it stood. Also a sign that it goes on, for a run whose next row is long in coming.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/rows.h"

namespace mantissa {

/// Starting: until the first step is done.
enum class Activity { Starting, Training, Evaluating, Saving, WaitingForTurn, Paused };
[[nodiscard]] const char* to_string(Activity activity);  // "starting" ... "waiting_for_turn" "paused"
[[nodiscard]] std::optional<Activity> parse_activity(std::string_view text);

struct RankLife {
    std::int64_t rank = 0;
    std::int64_t process_id = 0;
    std::string host;
    std::optional<std::int64_t> last_step;  // done in this process
    Activity activity = Activity::Starting;
    std::int64_t quiet_ms = 0;     // since the last step or change of activity, as of the last pulse
    std::int64_t slowest_ms = 0;   // of the last steps: from one to the next
    std::int64_t pulse_ns = 0;     // wall clock of its last pulse, one a second
    std::string end;               // the state it ended with; empty: it said none
    std::string reason;
    int exit_code = 0;
    bool is_alive = false;         // the kernel's word
    /// "at step 41", "before its first step"
    [[nodiscard]] std::string where() const;
};

/// Of every process that ever worked on the run, by rank; empty for recordings that are older than these files.
[[nodiscard]] std::vector<RankLife> read_lives(const std::filesystem::path& run_folder);

/// The living process's own. Threads: any; a thread of its own gives the pulse.
class LifeFile {
  public:
    static Result<std::unique_ptr<LifeFile>> open(const std::filesystem::path& run_folder, std::int64_t rank);
    ~LifeFile();
    LifeFile(const LifeFile&) = delete;
    LifeFile& operator=(const LifeFile&) = delete;

    void step_done(std::int64_t step);
    void set_activity(Activity activity);
    /// Its last words; without them it is one that vanished.
    void end(RunState state, const std::string& reason, int exit_code);

  private:
    struct Impl;
    explicit LifeFile(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace mantissa
