#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace mantissa {

/// Tells a file from the one that lay in its place before. The kernel's times are some milliseconds coarse: two renames within one
/// tick share their time, so the file's own number and size count, too.
struct FileStamp {
    std::uint64_t device = 0, number = 0;
    std::int64_t bytes = 0, modified_ns = 0;
    bool operator==(const FileStamp&) const = default;
};

/// Empty: there is no such file.
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::filesystem::path& file);

}  // namespace mantissa
