#pragma once
// Run and comparison folders on disk, written by the recorder from hand-made evidence.
#include <filesystem>

#include "evidence_maker.h"

namespace mantissa::test {

/// A folder of its own that goes away with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
};

/// Returns the run folder.
std::filesystem::path write_run(const std::filesystem::path& runs, const RunEvidence& run,
                                const std::string& comparison_id = {});
/// Returns the comparison folder.
std::filesystem::path write_comparison_folder(const std::filesystem::path& runs,
                                              const ComparisonEvidence& evidence,
                                              const std::string& name = "digits-mlp");

}  // namespace mantissa::test
