#include "ui/runs/run_trash.h"

#include <signal.h>
#include <unistd.h>

#include <system_error>

#include "base/files.h"
#include "base/numbers.h"
#include "launch/run_lookup.h"

namespace mantissa::ui {

namespace fs = std::filesystem;

fs::path RunTrash::place() const {
    return m_runs / ".trash" / std::to_string(::getpid());
}

Result<void> RunTrash::take(const RunEntry& entry) {
    if (has_supervisor(entry.folder)) {
        return Error{ErrorCode::Usage, entry.folder.filename().string() + " is still running",
                     "stop it first"};
    }
    empty();
    if (auto made = make_folders(place()); !made) {
        return made;
    }
    std::vector<fs::path> folders{entry.folder};
    for (const RunOfEntry& run : entry.runs) {
        if (run.folder != entry.folder) {
            folders.push_back(run.folder);
        }
    }
    folders.insert(folders.end(), entry.replicas.begin(), entry.replicas.end());
    for (const fs::path& folder : folders) {
        std::error_code failure;
        if (!fs::exists(folder, failure)) {
            continue;  // removed by hand before
        }
        const fs::path target = place() / folder.filename();
        fs::rename(folder, target, failure);
        if (failure) {
            const Error error{ErrorCode::InputOutput,
                              folder.string() + " could not be moved: " + failure.message(), ""};
            (void)restore();
            return error;
        }
        m_moved.emplace_back(folder, target);
    }
    return {};
}

Result<void> RunTrash::restore() {
    while (!m_moved.empty()) {
        const auto [from, to] = m_moved.back();
        std::error_code failure;
        fs::rename(to, from, failure);
        if (failure) {
            return Error{ErrorCode::InputOutput,
                         from.string() + " could not be brought back: " + failure.message(),
                         "it lies in " + to.string()};
        }
        m_moved.pop_back();
    }
    return {};
}

void RunTrash::empty() {
    m_moved.clear();
    std::error_code ignored;  // what can't be removed stays in .trash and is tried again next time
    fs::remove_all(place(), ignored);
    for (const auto& left : fs::directory_iterator(m_runs / ".trash", ignored)) {
        const auto process = parse_int(left.path().filename().string());
        if (process && ::kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH) {
            fs::remove_all(left.path(), ignored);
        }
    }
}

}  // namespace mantissa::ui
