#include "launch/trusted_files.h"

#include <sstream>
#include <system_error>

#include "base/files.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "plan/model_file.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

fs::path list_file() { return runs_folder().parent_path() / "trusted_models"; }

/// A missing list is an empty one.
Result<std::string> read_list() {
    std::error_code ignored;
    if (!fs::exists(list_file(), ignored)) return std::string();
    return read_file(list_file());
}

bool holds(const std::string& list, const std::string& hash) {
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(hash + " ")) return true;
    return false;
}

Result<std::string> hash_of(const fs::path& file) {
    const auto bytes = read_file(file);
    if (!bytes) return bytes.error();
    return sha256_hex(*bytes);
}

}  // namespace

Result<void> trust_file(const fs::path& file) {
    const auto hash = hash_of(file);
    if (!hash) return hash.error();
    auto list = read_list();
    if (!list) return list.error();
    if (holds(*list, *hash)) return {};
    if (auto made = make_folders(list_file().parent_path()); !made) return made;
    return write_file_atomically(list_file(), *list + *hash + " " + file.filename().string() + "\n");
}

Result<void> require_trusted_model(const RunPlan& plan) {
    if (!is_program(plan.model)) return {};
    const auto hash = hash_of(plan.model.file);
    if (!hash) return hash.error();
    const auto list = read_list();
    if (!list) return list.error();
    if (holds(*list, *hash)) return {};
    return Error{ErrorCode::BadPlan,
                 "model.file is \"" + plan.model.file + "\": a TorchScript file is a program that runs with your rights, and nobody has said that this one is trusted",
                 "if you know where it comes from, start it once with --trust (its content is remembered, not its name)"};
}

}  // namespace mantissa
