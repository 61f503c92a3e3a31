#pragma once
// Everything that another person needs to look at one bad step, as one .tar file: plan, environment, recording, and the step's incident,
// replay and kept states. Unpacked it is a run folder that `mantissa replay` takes. No Qt, no thread of its own.
#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace mantissa::ui {

struct WrittenBundle {
    std::filesystem::path file;
    std::int64_t files = 0, bytes = 0;
};

/// Written beside the target and renamed. Errors: InputOutput, with the file that can't be read or written.
[[nodiscard]] Result<WrittenBundle> writeBundle(const std::filesystem::path& run, std::int64_t step, const std::filesystem::path& file);

}  // namespace mantissa::ui
