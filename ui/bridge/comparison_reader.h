#pragma once
// What a job folder says, read whole whenever its file is new: comparison.json, or verdicts.json of a single run. While the record
// doesn't say yet whether the comparison is fair, that is asked of the environments; texts in another language are judged again.
// No Qt, no thread of its own: ComparisonFollower calls it from its worker.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_stamp.h"
#include "record/comparison_record.h"

namespace mantissa::ui {

struct ComparisonSnapshot {
    std::optional<ComparisonRecord> record;  // empty for a single run
    std::vector<Verdict> verdicts;
    std::vector<std::filesystem::path> repetitions;  // run folders that repeat the control, as far as they were begun
    std::string problem;
};

class ComparisonReader {
  public:
    ComparisonReader(std::filesystem::path folder, bool isComparison);

    /// Something new since the last call; empty when nothing is.
    std::optional<ComparisonSnapshot> look(const std::string& language);

  private:
    void readComparison(const std::string& language);
    void readSingle(const std::string& language);
    bool findFairness(const std::string& language);

    const std::filesystem::path m_folder, m_file;
    const bool m_isComparison;
    std::optional<FileStamp> m_seen;
    std::string m_language;
    ComparisonSnapshot m_snapshot;
};

}  // namespace mantissa::ui
