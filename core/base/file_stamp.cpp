#include "base/file_stamp.h"

#include <sys/stat.h>

namespace mantissa {

std::optional<FileStamp> file_stamp(const std::filesystem::path& file) {
    struct stat found{};
    if (::stat(file.c_str(), &found) != 0) return std::nullopt;
    return FileStamp{static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino),
                     static_cast<std::int64_t>(found.st_size),
                     static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec};
}

}  // namespace mantissa
