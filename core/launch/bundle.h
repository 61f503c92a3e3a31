#pragma once
// A bundle: all that another person needs to look at one bad step, as one .zip file that opens anywhere – plan, environment, recording, and
// the step's incident, replay and kept states, below one folder with the run's name. The command line and the window write and read it here.
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mantissa {

struct WrittenBundle {
    std::filesystem::path file;
    std::int64_t files = 0, bytes = 0;  // what went in, unpacked
};

/// Written beside the target and renamed; a file of that name is replaced. Errors: Usage (no .zip name), InputOutput (the run is running, a
/// file that can't be read or written).
Result<WrittenBundle> write_bundle(const std::filesystem::path& run, std::int64_t step, const std::filesystem::path& file);

/// What an archive of unknown origin may hold, unpacked.
struct BundleLimits {
    std::int64_t files = 4096;
    std::int64_t bytes = std::int64_t{16} << 30;
};

/// A file that begins as a .zip does; says nothing about what is in it.
[[nodiscard]] bool looks_like_bundle(const std::filesystem::path& file);

/// Name of the run folder in it. Errors: as unpack_bundle.
Result<std::string> bundle_run_name(const std::filesystem::path& file, const BundleLimits& limits = {});

/// Makes `folder` / NAME, which must not be there yet, and returns it. All names and sizes are looked at before the first byte is written,
/// and nothing stays behind when it fails. Refused: names that lead out of the folder (absolute, "..", backslashes), links and devices,
/// encrypted files, names that are there twice, more than one folder, more than the limits or the free space, and bytes beyond the told size.
Result<std::filesystem::path> unpack_bundle(const std::filesystem::path& file, const std::filesystem::path& folder, const BundleLimits& limits = {});

}  // namespace mantissa
