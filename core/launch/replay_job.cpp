#include "launch/replay_job.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "launch/incident_states.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr const char* lock_name = "replay.lock";
constexpr const char* log_name = "processes.log";  // replay.log is the window's, of the whole replay
constexpr double shortest_limit_seconds = 120, times_the_record = 20;

Result<int> lock_step(const ReplaySubject& subject) {
    const fs::path file = subject.folder() / lock_name;
    if (auto made = make_folders(subject.folder()); !made) return made.error();
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
        return Error{ErrorCode::InputOutput, "can't write in " + subject.folder().string() + ": " + std::strerror(errno),
                     "copy the run's folder to a place that you can write, and replay the copy"};
    // A reader that asks holds the lock for some microseconds: that isn't another replay.
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    ::close(descriptor);
    return Error{ErrorCode::InputOutput, "another replay works on step " + std::to_string(subject.step) + " of " + subject.run.filename().string(),
                 "follow it in the window, or wait for its end"};
}

/// Before a line is tried a second time.
void forget_result(VariantReport& variant) {
    variant.this_step_finite.reset();
    variant.later_bad_at.reset();
    variant.loss.reset();
    variant.later_loss.reset();
    variant.later_steps = 0;
    variant.value.clear();
    variant.place.clear();
    variant.same_place = false;
}

}  // namespace

std::string cheapest_that_holds(const ReplayReport& report) {
    for (const char* id : {"custom", "island", "bf16", "half_rate", "no"})
        for (const VariantReport& variant : report.variants)
            if (variant.id == id && variant.state == "done" && variant.holds()) return id;
    return "";
}

bool is_replay_running(const fs::path& run, std::int64_t step) {
    const int descriptor = ::open((incident_folder(run, step) / lock_name).c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    ::close(descriptor);
    return locked;
}

Result<std::unique_ptr<ReplayJob>> ReplayJob::start(const ReplayOptions& options, ReplayHooks hooks) {
    auto subject = find_replay_subject(options.run, options.step);
    if (!subject) return subject.error();
    std::unique_ptr<ReplayJob> job(new ReplayJob(std::move(*subject), std::move(hooks)));
    if (auto opened = job->open(options); !opened) return opened.error();
    return job;
}

ReplayJob::ReplayJob(ReplaySubject subject, ReplayHooks hooks) : m_subject(std::move(subject)), m_hooks(std::move(hooks)), m_started_ns(monotonic_ns()) {}

ReplayJob::~ReplayJob() {
    if (m_lock >= 0 && !m_has_ended) stop();
    m_process.reset();
    m_work = WorkFolder();
    if (m_lock >= 0) ::close(m_lock);
}

Result<void> ReplayJob::open(const ReplayOptions& options) {
    auto variants = ReplayVariants::plan(m_subject, options);
    if (!variants) return variants.error();
    m_variants = std::move(*variants);
    auto lock = lock_step(m_subject);
    if (!lock) return lock.error();
    m_lock = *lock;
    auto work = WorkFolder::make("replay");
    if (!work) return work.error();
    m_work = std::move(*work);
    std::error_code ignored;
    fs::remove(m_subject.folder() / log_name, ignored);
    if (const CheckpointInfo* state = m_subject.state_at(m_subject.step)) m_state = state->path;
    m_report.run_dir = m_subject.run.string();
    m_report.step = m_subject.step;
    m_report.mode = m_subject.mode();
    m_report.is_what_if = m_subject.is_healthy;
    m_report.control_finite = m_subject.control_finite;
    m_report.control_run = m_subject.control_run.string();
    m_report.start_step = m_variants->start_step();
    m_report.variants = m_variants->grid(m_subject.incident ? m_subject.incident->birth : std::nullopt);
    if (auto earlier = read_replay(m_subject.folder()); earlier && earlier->reproduced == Reproduced::Bits) m_earlier = std::move(*earlier);
    if (auto written = write_replay(m_subject.folder(), m_report); !written) return written;
    auto begun = begin(m_variants->unchanged(m_work.path() / ("state_" + std::to_string(m_subject.step))));
    if (!begun) fail(begun.error());
    return begun;
}

std::chrono::seconds ReplayJob::limit_of(const ReplayRequest& request) const {
    if (m_hooks.limit) return *m_hooks.limit;
    const std::int64_t from = request.variant.id == "half_rate" ? request.variant.from_step : m_report.start_step;
    const double on_the_way = m_subject.recorded_seconds(from, request.step);
    const double per_step = on_the_way / static_cast<double>(std::max<std::int64_t>(1, request.step - from + 1));
    const double all = on_the_way + per_step * static_cast<double>(request.later_steps);
    return std::chrono::seconds(static_cast<std::int64_t>(std::ceil(shortest_limit_seconds + times_the_record * all)));
}

Result<void> ReplayJob::begin(const ReplayRequest& request) {
    auto process = ReplayProcess::start(request, {m_work.path(), m_subject.folder() / log_name}, limit_of(request));
    if (!process) return process.error();
    m_process = std::move(*process);
    return {};
}

VariantReport* ReplayJob::running() {
    const auto found = std::find_if(m_report.variants.begin(), m_report.variants.end(), [](const VariantReport& one) { return one.state == "running"; });
    return found == m_report.variants.end() ? nullptr : &*found;
}

bool ReplayJob::poll() {
    if (m_has_ended) return true;
    if (!m_process) {
        begin_next();
        return m_has_ended;
    }
    auto answer = m_process->poll();
    if (!answer) return false;
    if (m_report.reproduced)
        take_variant(std::move(*answer));
    else
        take_unchanged(std::move(*answer));
    return m_has_ended;
}

void ReplayJob::begin_next() {
    const auto next = std::find_if(m_report.variants.begin(), m_report.variants.end(), [](const VariantReport& one) { return one.state == "waiting"; });
    if (next == m_report.variants.end()) return end("done");
    auto request = m_variants->request(*next, m_state);
    if (!request) return cant_try(*next, request.error());
    next->state = "running";
    save();
    if (m_report.birth) watch_birth(*request, *m_report.birth);
    // The curve of the producer's values needs the steps before, when the first replay didn't know the place.
    if (next->id == "as_was" && m_report.birth) {
        const CheckpointInfo* start = m_subject.state_at_or_before(m_report.start_step);
        request->state = start == nullptr ? fs::path() : start->path;
    }
    const auto begun = begin(*request);
    if (begun) return;
    next->state = "failed";
    next->reason = describe(begun.error());
    save();
}

/// The plan itself refuses the change: a place that can't be an island, for one.
void ReplayJob::cant_try(VariantReport& variant, const Error& error) {
    const std::string wider = variant.id == "island" ? ReplayVariants::wider_island(variant.island, m_report.birth) : "";
    if (!wider.empty()) {
        variant.island = wider;
        return;
    }
    variant.state = "left_out";
    variant.reason = describe(error);
    save();
}

void ReplayJob::take_curve(const ReplayAnswer& answer) {
    if (answer.producer_largest.empty()) return;
    m_report.producer_largest = answer.producer_largest;
    if (answer.limit > 0) m_report.limit = answer.limit;
    m_report.one_bit_left_step.reset();
    for (const StepValue& one : m_report.producer_largest) {
        if (m_report.limit <= 0 || !(std::fabs(one.value) > m_report.limit / 2)) continue;
        m_report.one_bit_left_step = one.step;
        break;
    }
}

void ReplayJob::take_unchanged(Result<ReplayAnswer> answer) {
    const double seconds = m_process->seconds();
    m_process.reset();
    if (!answer) return fail(answer.error());
    m_report.reproduced = answer->reproduced;
    m_report.reproduced_reason = answer->reproduced_reason;
    m_report.ops = answer->ops;
    m_report.limit = answer->limit;
    m_report.start_step = answer->start_step;
    if (!m_report.is_what_if) m_report.birth = answer->birth;
    take_curve(*answer);
    // Another machine, or an op without a fixed order: the grid would speak of another step.
    m_report.variants.clear();
    if (answer->reproduced == Reproduced::No) return end("done");
    keep_state();
    m_report.variants = m_variants->grid(m_report.birth);
    const bool wants_curve = m_report.birth && answer->producer_largest.empty() && m_report.start_step < m_report.step;
    for (VariantReport& variant : m_report.variants) {
        if (variant.id != "as_was" || wants_curve) continue;
        variant = answer->variant;
        variant.state = "done";
        variant.seconds = seconds;
    }
    take_over_earlier();
    save();
}

/// One more question must not cost the answers that are there: the same bits give the same lines.
void ReplayJob::take_over_earlier() {
    const auto born = [](const ReplayReport& report) { return report.birth ? report.birth->producer.phase + " " + report.birth->place() : ""; };
    const bool is_same = m_earlier && m_report.reproduced == Reproduced::Bits && m_earlier->mode == m_report.mode && born(*m_earlier) == born(m_report);
    if (!is_same) return;
    const auto& ids = replay_variant_ids();
    const auto rank = [&ids](const VariantReport& one) { return std::find(ids.begin(), ids.end(), one.id) - ids.begin(); };
    for (const VariantReport& earlier : m_earlier->variants) {
        const bool is_asked = std::any_of(m_report.variants.begin(), m_report.variants.end(), [&](const auto& one) { return one.id == earlier.id; });
        // A what-if is the question of one time.
        if (earlier.state == "done" && !is_asked && earlier.id != "custom") m_report.variants.push_back(earlier);
    }
    // Begun at the step itself it has seen none of the steps before.
    if (m_report.producer_largest.empty()) {
        m_report.producer_largest = m_earlier->producer_largest;
        m_report.one_bit_left_step = m_earlier->one_bit_left_step;
    }
    std::stable_sort(m_report.variants.begin(), m_report.variants.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

/// The state at the step, which the unchanged replay has left: variants begin there, and so does a run that goes on with a change.
void ReplayJob::keep_state() {
    const fs::path made = m_work.path() / ("state_" + std::to_string(m_subject.step));
    std::error_code ignored;
    if (!m_state.empty() || !fs::exists(made / "state.json", ignored)) return;
    const auto kept = keep_state_in(m_subject.folder(), made);
    if (!kept) log::warning(describe(kept.error()));
    m_state = kept ? *kept : made;
}

void ReplayJob::take_variant(Result<ReplayAnswer> answer) {
    const double seconds = m_process->seconds();
    m_process.reset();
    VariantReport* variant = running();
    if (variant == nullptr) return;
    if (!answer) {
        const ErrorCode code = answer.error().code;
        const bool cant_run = code == ErrorCode::UnsupportedPrecision || code == ErrorCode::UnsupportedDevice || code == ErrorCode::NotBuilt;
        variant->state = cant_run ? "left_out" : "failed";
        variant->reason = describe(answer.error());
        return save();
    }
    const VariantReport asked = *variant;
    *variant = answer->variant;
    // Who was asked stays as it was asked for.
    variant->id = asked.id;
    variant->island = asked.island;
    variant->settings = asked.settings;
    variant->mode = asked.mode;
    variant->from_step = asked.from_step;
    variant->state = "done";
    variant->seconds = asked.seconds + seconds;
    if (variant->id == "as_was") take_curve(*answer);
    if (variant->id == "island" && !variant->holds()) {
        if (const std::string wider = ReplayVariants::wider_island(variant->island, m_report.birth); !wider.empty()) {
            m_first_island = variant->island;
            variant->island = wider;
            variant->state = "waiting";
            forget_result(*variant);
            return save();
        }
    }
    if (variant->id == "island" && !m_first_island.empty()) variant->reason = m_first_island + " alone in fp32 does not hold";
    save();
}

void ReplayJob::save() {
    m_report.seconds = static_cast<double>(monotonic_ns() - m_started_ns) * 1e-9;
    if (const auto written = write_replay(m_subject.folder(), m_report); !written) {
        log::error(describe(written.error()));
        if (!m_error) m_error = written.error();
    }
    if (m_hooks.changed) m_hooks.changed(m_report);
}

void ReplayJob::end(const char* state) {
    m_has_ended = true;
    m_report.state = state;
    m_report.best = cheapest_that_holds(m_report);
    const bool is_reproduced = m_report.reproduced && *m_report.reproduced != Reproduced::No;
    if (m_hooks.judge && is_reproduced)
        if (const auto judged = m_hooks.judge(m_report); !judged) log::error("the replay can't be judged: " + describe(judged.error()));
    save();
}

void ReplayJob::fail(const Error& error) {
    m_error = error;
    m_report.problem = describe(error);
    m_report.variants.clear();
    end("failed");
}

void ReplayJob::stop() {
    if (m_has_ended) return;
    m_process.reset();
    for (VariantReport& variant : m_report.variants)
        if (variant.state == "running") variant.state = "waiting";
    if (m_report.reproduced || !m_earlier) return end("stopped");
    m_has_ended = true;
    m_report.state = "stopped";
    if (const auto written = write_replay(m_subject.folder(), *m_earlier); !written) log::error(describe(written.error()));
    if (m_hooks.changed) m_hooks.changed(m_report);
}

}  // namespace mantissa
