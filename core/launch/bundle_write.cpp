#include <zip.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <vector>

#include "launch/bundle.h"
#include "record/replay_report.h"
#include "record/run_folder.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

/// An archive that is thrown away unless it was closed.
struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

Error cant_write(const fs::path& file, const std::string& why) {
    return {ErrorCode::InputOutput, file.string() + " can't be written: " + why, "choose another folder, or free some room"};
}

std::string readme(const std::string& run, std::int64_t step) {
    const std::string number = std::to_string(step);
    return "Step " + number + " of the run " + run + ", to be looked at elsewhere.\n\n" +
           "plan.json         all settings of the run\n"
           "environment.json  machine, versions and numeric settings that it ran with\n"
           "run.db            the recording (SQLite)\n"
           "incidents/step_" + number + "/  what was found there, the replay, and the states that it starts from\n\n"
           "Do the step again:  mantissa replay BUNDLE.zip --step " + number + "\n"
           "Keep it as a run:   mantissa runs unpack BUNDLE.zip\n"
           "A data or model file that the plan names by a path is not in here.\n";
}

/// Paths below the run, in a fixed order.
std::vector<fs::path> files_of(const RunFolder& run, std::int64_t step) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (const fs::path& file : {run.plan(), run.environment(), run.database(), fs::path(run.database().string() + "-wal"), run.verdicts()})
        if (fs::is_regular_file(file, failed)) files.push_back(file.lexically_relative(run.path));
    std::vector<fs::path> of_step;
    for (fs::recursive_directory_iterator entry(incident_folder(run.path, step), failed), end; !failed && entry != end; entry.increment(failed)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().string();
        if (name.starts_with('.') || name == "replay.lock" || name.ends_with(".log")) {  // half-made states; of this machine alone
            if (entry->is_directory(ignored)) entry.disable_recursion_pending();
            continue;
        }
        if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) of_step.push_back(entry->path().lexically_relative(run.path));
    }
    std::sort(of_step.begin(), of_step.end());
    files.insert(files.end(), of_step.begin(), of_step.end());
    return files;
}

Result<void> add(zip_t* archive, const std::string& name, zip_source_t* source) {
    const zip_int64_t index = source == nullptr ? -1 : zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        const Error error{ErrorCode::InputOutput, name + " can't be put into the bundle: " + zip_strerror(archive), ""};
        if (source != nullptr) zip_source_free(source);
        return error;
    }
    // Weights are noise to a compressor.
    if (name.ends_with(".safetensors")) zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    zip_file_set_external_attributes(archive, static_cast<zip_uint64_t>(index), 0, ZIP_OPSYS_UNIX, 0100644U << 16);
    return {};
}

}  // namespace

Result<WrittenBundle> write_bundle(const fs::path& given, std::int64_t step, const fs::path& file) {
    std::error_code failed;
    RunFolder run{fs::absolute(given, failed).lexically_normal()};
    if (!run.path.has_filename()) run.path = run.path.parent_path();
    const std::string run_name = run.path.filename().string();
    if (file.extension() != ".zip") return Error{ErrorCode::Usage, "a bundle is a .zip file, not " + file.string(), "name it " + file.string() + ".zip"};
    if (!RunLock::is_free(run))
        return Error{ErrorCode::InputOutput, run_name + " is running: its recording can't be copied now", "wait for its end"};
    const auto names = files_of(run, step);
    if (std::find(names.begin(), names.end(), fs::path("plan.json")) == names.end())
        return Error{ErrorCode::InputOutput, "there is no plan.json in " + run.path.string(), "the run's folder was moved or deleted"};
    int code = 0;
    Archive archive(zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
    if (!archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const std::string why = zip_error_strerror(&error);
        zip_error_fini(&error);
        return cant_write(file, why);
    }
    WrittenBundle written{file, 0, 0};
    for (const fs::path& name : names) {
        const fs::path from = run.path / name;
        if (auto added = add(archive.get(), (fs::path(run_name) / name).generic_string(), zip_source_file(archive.get(), from.c_str(), 0, -1)); !added)
            return added.error();
        ++written.files;
        written.bytes += static_cast<std::int64_t>(fs::file_size(from, failed));
    }
    const std::string text = readme(run_name, step);  // lives until the archive is closed
    if (auto added = add(archive.get(), run_name + "/README.txt", zip_source_buffer(archive.get(), text.data(), text.size(), 0)); !added)
        return added.error();
    // Everything is read and written here; libzip writes beside the target and renames.
    if (zip_close(archive.get()) != 0) return cant_write(file, zip_strerror(archive.get()));
    static_cast<void>(archive.release());
    return written;
}

}  // namespace mantissa
