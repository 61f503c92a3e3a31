#pragma once
// One JSON object a line in LOGGING_DIR/<project>.jsonl: the configuration first, then values with time and step, as they come.
// Non-finite numbers are "NaN" "+Inf" "-Inf".
#include <fstream>

#include "track/tracker.h"

namespace mantissa {

class JsonLinesTracker : public Tracker {
  public:
    [[nodiscard]] std::string name() const override { return "json_lines"; }
    [[nodiscard]] bool needs_logging_dir() const override { return true; }
    Result<void> start(const TrackerStart& start) override;
    Result<void> log(const TrackedValues& values, std::optional<std::int64_t> step) override;
    Result<void> attempt(const TrackedAttempt& attempt) override;
    Result<void> finish() override;

  private:
    Result<void> write(const std::string& line);
    std::filesystem::path m_path;
    std::ofstream m_out;
};

}  // namespace mantissa
