#pragma once
#include <filesystem>

#include "base/result.h"

namespace mantissa {

/// A folder of its own below the system's temporary one, gone with everything in it when its owner goes. Movable.
class WorkFolder {
  public:
    WorkFolder() = default;  // none
    /// "state" makes mantissa-state-<random>. Error InputOutput when there is no place for one.
    static Result<WorkFolder> make(const char* purpose);
    WorkFolder(WorkFolder&& other) noexcept;
    WorkFolder& operator=(WorkFolder&& other) noexcept;
    ~WorkFolder();

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
};

}  // namespace mantissa
