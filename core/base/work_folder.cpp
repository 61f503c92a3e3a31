#include "base/work_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace mantissa {
namespace fs = std::filesystem;

Result<WorkFolder> WorkFolder::make(const char* purpose) {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / ("mantissa-" + std::string(purpose) + "-XXXXXX")).string();
    if (error || ::mkdtemp(pattern.data()) == nullptr)
        return Error{ErrorCode::InputOutput, "no temporary folder can be made", "set TMPDIR"};
    WorkFolder folder;
    folder.m_path = pattern;
    return folder;
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}

WorkFolder& WorkFolder::operator=(WorkFolder&& other) noexcept {
    std::swap(m_path, other.m_path);
    return *this;
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    if (!m_path.empty()) fs::remove_all(m_path, ignored);
}

}  // namespace mantissa
