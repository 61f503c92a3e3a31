#pragma once
// Event files for TensorBoard, in the layout that Accelerate's tracker makes: LOGGING_DIR/<project>/ with scalars and texts, a folder
// <name>_<key> below it for each number of a map, and a folder named by the time with the hyper-parameters and hparams.yml.
#include <map>

#include "track/event_file.h"
#include "track/tracker.h"

namespace mantissa {

class TensorBoardTracker : public Tracker {
  public:
    [[nodiscard]] std::string name() const override { return "tensorboard"; }
    [[nodiscard]] bool needs_logging_dir() const override { return true; }
    Result<void> start(const TrackerStart& start) override;
    Result<void> log(const TrackedValues& values, std::optional<std::int64_t> step) override;
    Result<void> finish() override;
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }

  private:
    Result<void> write_config(const TrackerConfig& config, double wall_time);
    Result<EventFile*> file_in(const std::filesystem::path& folder, double wall_time);

    std::filesystem::path m_folder;
    std::map<std::filesystem::path, EventFile> m_files;
};

/// A mapping in YAML, as PyYAML's safe_load reads it back.
[[nodiscard]] std::string config_to_yaml(const TrackerConfig& config);

}  // namespace mantissa
