#include "record/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/files.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr const char* comparisons_name = "comparisons";

Error folder_error(const fs::path& folder, const std::string& doing, int reason) {
    return {ErrorCode::InputOutput, folder.string() + " can't be " + doing + ": " + std::strerror(reason),
            "choose a runs folder that you can write with --runs-dir or MANTISSA_RUNS_DIR"};
}

/// "20261130-134955-…": made by create_unique_folder.
bool starts_with_time_stamp(const std::string& name) {
    if (name.size() < 16 || name[8] != '-' || name[15] != '-') return false;
    const auto is_digit = [&](std::size_t at) {
        return std::isdigit(static_cast<unsigned char>(name[at])) != 0;
    };
    for (std::size_t at = 0; at < 15; ++at) {
        if (at != 8 && !is_digit(at)) return false;
    }
    return true;
}

/// When the folder was made, as near as its files tell: a plan is written once, at the start.
fs::file_time_type made_at(const fs::path& folder) {
    for (const char* file : {"plan.json", "turn.lock"}) {
        std::error_code error;
        const auto time = fs::last_write_time(folder / file, error);
        if (!error) return time;
    }
    return fs::file_time_type::min();
}

/// Names begin with the second, which short runs share: then the files tell which was later.
void sort_newest_first(const fs::path& parent, std::vector<std::string>& names) {
    std::vector<std::pair<fs::file_time_type, std::string>> keyed;
    keyed.reserve(names.size());
    for (std::string& name : names) keyed.emplace_back(made_at(parent / name), std::move(name));
    std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
        const int second = a.second.compare(0, 15, b.second, 0, 15);
        if (second != 0) return second > 0;
        return a > b;
    });
    std::transform(keyed.begin(), keyed.end(), names.begin(), [](auto& one) { return std::move(one.second); });
}

/// Names of folders in `parent`, newest first; a parent that isn't there holds none.
template <typename Keep>
Result<std::vector<std::string>> list_folders(const fs::path& parent, Keep keep) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entries(parent, error);
    if (error == std::errc::no_such_file_or_directory) return names;
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        std::error_code ignored;
        if (entries->is_directory(ignored) && keep(entries->path()))
            names.push_back(entries->path().filename().string());
    }
    if (error) {
        return Error{ErrorCode::InputOutput,
                     "the runs folder " + parent.string() + " can't be read: " + error.message(), ""};
    }
    sort_newest_first(parent, names);
    return names;
}

}  // namespace

std::string folder_name_part(const std::string& name) {
    constexpr std::size_t longest = 60;
    std::string part;
    for (const char letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool keep =
            byte >= 0x80 || std::isalnum(byte) || letter == '.' || letter == '_' || letter == '+';
        if (keep) {
            part += letter;
        } else if (!part.empty() && part.back() != '-') {
            part += '-';
        }
    }
    if (part.size() > longest) {
        std::size_t end = longest;
        while (end > 0 && (static_cast<unsigned char>(part[end]) & 0xC0) == 0x80)
            --end;  // not inside a UTF-8 sequence
        part.resize(end);
    }
    while (!part.empty() && part.back() == '-') part.pop_back();
    return part.empty() ? "run" : part;
}

Result<fs::path> create_unique_folder(const fs::path& parent, const std::string& base) {
    if (auto made = make_folders(parent); !made) {
        Error error = made.error();
        error.hint = folder_error(parent, "", 0).hint;
        return error;
    }
    for (int attempt = 1; attempt < 10'000; ++attempt) {
        const fs::path folder = parent / (attempt == 1 ? base : base + "-" + std::to_string(attempt));
        if (::mkdir(folder.c_str(), 0777) == 0) return folder;
        if (errno != EEXIST) return folder_error(folder, "made", errno);
    }
    return folder_error(parent / base, "made", EEXIST);
}

Result<RunFolder> create_run_folder(const fs::path& runs, const std::string& name, Precision mode) {
    auto folder = create_unique_folder(
        runs, file_time_stamp(now_ns()) + "-" + folder_name_part(name) + "-" + to_string(mode));
    if (!folder) return folder.error();
    return RunFolder{std::move(folder).value()};
}

Result<std::vector<RunFolder>> list_run_folders(const fs::path& runs) {
    const auto is_run = [](const fs::path& path) {
        const std::string name = path.filename().string();
        if (name == comparisons_name) return false;
        std::error_code ignored;
        // A run folder that somebody renamed is still known by its recording.
        return starts_with_time_stamp(name) || fs::exists(RunFolder{path}.database(), ignored);
    };
    auto names = list_folders(runs, is_run);
    if (!names) return names.error();
    std::vector<RunFolder> folders;
    for (const std::string& name : *names) folders.push_back(RunFolder{runs / name});
    return folders;
}

Result<std::vector<std::string>> list_comparisons(const fs::path& runs) {
    return list_folders(runs / comparisons_name, [](const fs::path& path) {
        std::error_code ignored;
        return fs::exists(path / "comparison.json", ignored);
    });
}

Result<RunLock> RunLock::take(const RunFolder& folder) {
    const int descriptor = ::open(folder.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return folder_error(folder.lock(), "written", errno);
    RunLock lock(descriptor);
    // A reader that asks `is_free` holds the lock for some microseconds: that isn't another worker.
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
        if (errno != EWOULDBLOCK && errno != EINTR) return folder_error(folder.lock(), "locked", errno);
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    return Error{ErrorCode::InputOutput,
                 "the run " + folder.path.string() + " is already running in another process",
                 "wait for its end, or stop it first"};
}

bool RunLock::is_free(const RunFolder& folder) {
    const int descriptor = ::open(folder.lock().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return true;
    int taken = -1;
    do {
        taken = ::flock(descriptor, LOCK_SH | LOCK_NB);
    } while (taken != 0 && errno == EINTR);
    const bool held = taken != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return !held;
}

bool RunLock::was_ever_taken(const RunFolder& folder) {
    std::error_code ignored;
    return fs::exists(folder.lock(), ignored);
}

RunLock::RunLock(RunLock&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

RunLock::~RunLock() {
    if (m_descriptor >= 0) ::close(m_descriptor);
}

}  // namespace mantissa
