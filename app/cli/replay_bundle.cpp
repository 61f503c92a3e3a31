#include "replay_bundle.h"

#include <string>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "record/replay_report.h"
#include "record/run_folder.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

Result<void> copy_one(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    if (!fs::exists(from, failed)) return {};
    failed.clear();
    fs::copy(from, to, fs::copy_options::recursive, failed);
    if (failed) return Error{ErrorCode::InputOutput, from.string() + " can't be copied to " + to.string() + ": " + failed.message(), ""};
    return {};
}

std::string readme(const fs::path& run, std::int64_t step) {
    const std::string number = std::to_string(step);
    return "Step " + number + " of the run " + run.filename().string() + ", to be looked at elsewhere.\n\n" +
           "plan.json         all settings of the run\n"
           "environment.json  machine, versions and numeric settings that it ran with\n"
           "run.db            the recording (SQLite)\n"
           "incidents/step_" + number + "/  what was found there, the replay, and the states that it starts from\n\n"
           "Do the step again:  mantissa replay THIS_FOLDER --step " + number + "\n"
           "A data or model file that the plan names by a path is not in here.\n";
}

}  // namespace

Result<void> write_bundle(const fs::path& run, std::int64_t step, const fs::path& folder) {
    std::error_code failed;
    if (fs::exists(folder, failed)) return Error{ErrorCode::Usage, "--bundle: " + folder.string() + " is there already", "name a new folder"};
    const RunFolder from{run};
    if (!RunLock::is_free(from))
        return Error{ErrorCode::InputOutput, run.filename().string() + " is running: its recording can't be copied now", "wait for its end"};
    const RunFolder to{folder};
    if (auto made = make_folders(to.incidents()); !made) return made;
    for (const char* name : {"plan.json", "environment.json", "run.db", "run.db-wal", "verdicts.json"})
        if (auto copied = copy_one(run / name, folder / name); !copied) return copied;
    if (auto copied = copy_one(incident_folder(run, step), incident_folder(folder, step)); !copied) return copied;
    for (const char* name : {"replay.lock", "replay.log", "processes.log"}) fs::remove(incident_folder(folder, step) / name, failed);
    return write_file_atomically(folder / "README.txt", readme(run, step));
}

}  // namespace mantissa::cli
