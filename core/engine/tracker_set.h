#pragma once
// The trackers of one Accelerator: made from their names, started together, told every attempt of the optimizer. Errors of a tracker
// are EngineErrors that begin with its name. Not for direct use.
#include <memory>
#include <string>
#include <vector>

#include "engine/accelerator_options.h"
#include "engine/step_facts.h"
#include "record/skip_kind.h"

namespace mantissa {

class TrackerSet {
  public:
    /// Throws for an unknown name (with the list), and for a tracker that needs a logging folder when none is given.
    explicit TrackerSet(const AcceleratorOptions& options);

    void start(TrackerStart start);
    void log(const TrackedValues& values, std::optional<std::int64_t> step);
    /// `applied`: updates so far, this one among them.
    void attempt(const StepFacts& facts, std::int64_t applied);
    [[nodiscard]] Tracker& get(const std::string& name);
    /// All are finished even if one fails; the first error is thrown.
    void finish();

  private:
    void refuse_unless_started(const char* what) const;

    std::vector<std::shared_ptr<Tracker>> m_trackers;
    std::filesystem::path m_logging_dir;
    bool m_is_main = true;
    bool m_is_started = false;
    SkipClassifier m_skips;
    std::int64_t m_last_ns = 0;
};

}  // namespace mantissa
