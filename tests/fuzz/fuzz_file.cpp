#include "tests/fuzz/fuzz_file.h"

#include <unistd.h>

#include <fstream>

namespace mantissa::fuzz {
namespace {

struct Folder {
    std::filesystem::path path;
    Folder() {
        std::error_code failed;
        const auto parent = std::filesystem::is_directory("/dev/shm", failed) ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
        std::string pattern = (parent / "mantissa-fuzz-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) std::abort();
        path = pattern;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

}  // namespace

const std::filesystem::path& folder() {
    static const Folder one;
    return one.path;
}

std::filesystem::path file_with(const char* name, std::string_view content) {
    auto path = folder() / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return path;
}

}  // namespace mantissa::fuzz
