// A bundle of a bad step from somebody else: names, sizes and kinds, and its unpacking. What is unpacked lies below the folder it was told.
#include "launch/bundle.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    namespace fs = std::filesystem;
    const auto file = fuzz::file_with("bundle.zip", fuzz::text_of(data, size));
    const fs::path target = fuzz::folder() / "unpacked" / "here";
    const auto unpacked = unpack_bundle(file, target, {64, 1 << 20});
    std::error_code ignored;
    // One run folder or nothing at all, and nothing beside the folder that was named.
    std::size_t inside = 0, beside = 0;
    for (const auto& entry : fs::directory_iterator(target, ignored)) inside += entry.is_directory() ? 1 : 2;
    for (const auto& entry : fs::directory_iterator(target.parent_path(), ignored)) beside += entry.is_directory() ? 1 : 2;
    if (inside != (unpacked ? 1 : 0) || beside > 1) std::abort();
    if (unpacked && (!fs::is_regular_file(*unpacked / "plan.json") || unpacked->parent_path() != target)) std::abort();
    fs::remove_all(target.parent_path(), ignored);
    return 0;
}
