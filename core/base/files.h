#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

/// Whole file as bytes. A file above `limit_bytes` is an error that says both sizes.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes = 64ull << 20);
/// Writes beside the target, syncs and renames: a reader sees the old content or the new, never a part.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);
/// The same of parts that follow each other in the file, which need not lie together in memory.
Result<void> write_file_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& parts);
/// After files were renamed into it or removed: the names survive a crash of the machine.
Result<void> sync_folder(const std::filesystem::path& folder);
Result<void> make_folders(const std::filesystem::path& folder);

}  // namespace mantissa
