#include "record/rank_life.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "record/json_fields.h"
#include "record/rank_file.h"
#include "record/signal_guard.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

// Two lines of fixed length, so that a write never changes the file's size: the first again and again, the second once, at the end.
constexpr std::size_t line_bytes = 512;
constexpr std::size_t longest_reason = 300;
constexpr std::chrono::milliseconds pulse_interval{1000};

constexpr std::array<std::pair<Activity, const char*>, 6> activity_names{{
    {Activity::Starting, "starting"},
    {Activity::Training, "training"},
    {Activity::Evaluating, "evaluating"},
    {Activity::Saving, "saving"},
    {Activity::WaitingForTurn, "waiting_for_turn"},
    {Activity::Paused, "paused"},
}};

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string padded(std::string text) {
    text.resize(line_bytes - 1, ' ');
    return text + "\n";
}

/// A lock of the open file description, as in launch/turns: asking for it takes nothing from anyone.
struct flock whole_file(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

bool is_locked(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct flock probe = whole_file(F_WRLCK);
    const bool held = ::fcntl(descriptor, F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
    ::close(descriptor);
    return held;
}

std::optional<RankLife> read_life(const std::filesystem::path& file, std::int64_t rank) {
    RankLife life;
    life.rank = rank;
    // The lock first: what a process writes before it lets go is then surely read.
    life.is_alive = is_locked(file);
    Json first, second;
    for (int attempt = 0; attempt < 3 && !first.is_object(); ++attempt) {  // between two halves of a write
        const auto text = read_file(file, 2 * line_bytes);
        if (!text) return std::nullopt;
        first = Json::parse(text->substr(0, line_bytes), nullptr, false);
        second = text->size() > line_bytes ? Json::parse(text->substr(line_bytes), nullptr, false) : Json();
    }
    if (!first.is_object()) return std::nullopt;
    const auto number = [&first](const char* key) {
        return first.contains(key) && first[key].is_number_integer() ? first[key].get<std::int64_t>() : 0;
    };
    const auto text = [](const Json& json, const char* key) {
        return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
    };
    life.process_id = number("pid");
    life.host = text(first, "host");
    if (number("step") >= 0) life.last_step = number("step");
    life.activity = parse_activity(text(first, "doing")).value_or(Activity::Starting);
    life.quiet_ms = number("quiet_ms");
    life.slowest_ms = number("slowest_ms");
    life.pulse_ns = number("pulse_ns");
    life.end = text(second, "end");
    life.reason = text(second, "reason");
    if (second.is_object() && second.contains("code") && second["code"].is_number_integer()) life.exit_code = second["code"].get<int>();
    return life;
}

}  // namespace

const char* to_string(Activity activity) {
    for (const auto& [value, name] : activity_names) {
        if (value == activity) return name;
    }
    return "";
}

std::optional<Activity> parse_activity(std::string_view text) {
    for (const auto& [value, name] : activity_names) {
        if (text == name) return value;
    }
    return std::nullopt;
}

std::string RankLife::where() const { return last_step ? "at step " + std::to_string(*last_step) : "before its first step"; }

std::vector<RankLife> read_lives(const std::filesystem::path& run_folder) {
    std::vector<RankLife> lives;
    std::error_code failed;
    for (std::int64_t rank = 0; std::filesystem::exists(rank_life(run_folder, rank), failed); ++rank) {
        if (auto life = read_life(rank_life(run_folder, rank), rank)) lives.push_back(std::move(*life));
    }
    return lives;
}

struct LifeFile::Impl {
    int descriptor = -1;
    std::string who;  // pid and host, as JSON fields

    std::mutex mutex;  // protects all below
    std::int64_t step = -1;
    Activity activity = Activity::Starting;
    std::int64_t moved_ns = 0;         // monotonic: the time in which a machine sleeps isn't lost by a run
    std::int64_t last_step_ns = 0;     // 0: a step that comes now tells nothing of how long steps take
    std::array<std::int64_t, 8> recent_ms{};  // from step to step
    std::size_t steps_timed = 0;
    std::condition_variable_any wake;
    std::jthread pulse;

    ~Impl() {
        if (pulse.joinable()) {
            pulse.request_stop();
            pulse.join();
        }
        if (descriptor >= 0) ::close(descriptor);
    }
    void write() {
        const std::int64_t quiet_ms = (monotonic_ns() - moved_ns) / 1'000'000;
        std::array<char, line_bytes + 1> line{};
        const int length = std::snprintf(
            line.data(), line.size(), "{%s,\"step\":%lld,\"doing\":\"%s\",\"quiet_ms\":%lld,\"slowest_ms\":%lld,\"pulse_ns\":%lld}", who.c_str(),
            static_cast<long long>(step), to_string(activity), static_cast<long long>(quiet_ms),
            static_cast<long long>(*std::max_element(recent_ms.begin(), recent_ms.end())), static_cast<long long>(now_ns()));
        if (length <= 0 || static_cast<std::size_t>(length) >= line_bytes) return;
        std::memset(line.data() + length, ' ', line_bytes - 1 - static_cast<std::size_t>(length));
        line[line_bytes - 1] = '\n';
        // Room was made when it was opened; what can still fail here tells nothing that the record doesn't.
        if (::pwrite(descriptor, line.data(), line_bytes, 0) < 0) return;
    }
    void moved() {
        moved_ns = monotonic_ns();
        write();
    }
    void give_pulse(const std::stop_token& stop) {
        db::block_program_signals();
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            write();
            wake.wait_for(lock, stop, pulse_interval, [] { return false; });
        }
    }
};

LifeFile::LifeFile(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
LifeFile::~LifeFile() = default;

Result<std::unique_ptr<LifeFile>> LifeFile::open(const std::filesystem::path& run_folder, std::int64_t rank) {
    const auto file = rank_life(run_folder, rank);
    const auto refuse = [&file](int number) {
        return Error{ErrorCode::InputOutput, "can't use " + file.string() + ": " + std::strerror(number), "the run folder must be writable"};
    };
    auto impl = std::make_unique<Impl>();
    impl->descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (impl->descriptor < 0) return refuse(errno);
    struct flock lock = whole_file(F_WRLCK);
    if (::fcntl(impl->descriptor, F_OFD_SETLK, &lock) != 0) {
        // A file system without locks: nobody can tell a death from it then, and all else works.
        if (errno == EAGAIN || errno == EACCES) return refuse(errno);
    }
    impl->who = Json{{"pid", ::getpid()}, {"host", host_name().substr(0, 120)}}.dump(-1, ' ', true, Json::error_handler_t::replace);
    impl->who = impl->who.substr(1, impl->who.size() - 2);
    const std::string blank = padded("") + padded("");
    if (::pwrite(impl->descriptor, blank.data(), blank.size(), 0) != static_cast<ssize_t>(blank.size())) return refuse(errno);
    impl->moved_ns = monotonic_ns();
    impl->write();
    impl->pulse = std::jthread([self = impl.get()](const std::stop_token& stop) { self->give_pulse(stop); });
    return std::unique_ptr<LifeFile>(new LifeFile(std::move(impl)));
}

void LifeFile::step_done(std::int64_t step) {
    const std::lock_guard lock(m_impl->mutex);
    const std::int64_t now = monotonic_ns();
    if (m_impl->last_step_ns > 0) m_impl->recent_ms[m_impl->steps_timed++ % m_impl->recent_ms.size()] = (now - m_impl->last_step_ns) / 1'000'000;
    m_impl->last_step_ns = now;
    m_impl->step = step;
    if (m_impl->activity == Activity::Starting) m_impl->activity = Activity::Training;
    m_impl->moved();
}

void LifeFile::set_activity(Activity activity) {
    const std::lock_guard lock(m_impl->mutex);
    if (activity == Activity::Training && m_impl->step < 0) activity = Activity::Starting;
    if (activity != Activity::Training) m_impl->last_step_ns = 0;  // what lies between is no step
    m_impl->activity = activity;
    m_impl->moved();
}

void LifeFile::end(RunState state, const std::string& reason, int exit_code) {
    Json words{{"end", to_string(state)}, {"code", exit_code}, {"reason", reason.substr(0, longest_reason)}};
    std::string text = words.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() >= line_bytes) text = (words.erase("reason"), words.dump());  // many quotes
    const std::string line = padded(std::move(text));
    const std::lock_guard lock(m_impl->mutex);
    if (::pwrite(m_impl->descriptor, line.data(), line.size(), line_bytes) < 0) return;
}

}  // namespace mantissa
