#include "engine/tracker_set.h"

#include <algorithm>

#include "base/clock.h"
#include "base/process_memory.h"
#include "engine/engine_error.h"
#include "engine/process_group.h"
#include "engine/step_row.h"

namespace mantissa {
namespace {

[[noreturn]] void refuse(const Tracker& tracker, Error error) {
    error.message = "tracker " + tracker.name() + ": " + error.message;
    throw EngineError(std::move(error));
}

std::vector<std::shared_ptr<Tracker>> make_trackers(const std::vector<TrackerChoice>& choices) {
    std::vector<std::shared_ptr<Tracker>> trackers;
    const auto add = [&trackers](std::shared_ptr<Tracker> tracker) {
        const bool is_known = std::any_of(trackers.begin(), trackers.end(),
                                          [&](const auto& one) { return one->name() == tracker->name(); });
        if (!is_known) {
            trackers.push_back(std::move(tracker));
        }
    };
    for (const TrackerChoice& choice : choices) {
        if (const auto* own = std::get_if<std::shared_ptr<Tracker>>(&choice)) {
            if (*own == nullptr) {
                throw EngineError({ErrorCode::BadPlan, "log_with holds an empty tracker", "give it an object, or a name"});
            }
            add(*own);
            continue;
        }
        const std::string& name = std::get<std::string>(choice);
        const auto names = name == "all" ? tracker_names() : std::vector<std::string>{name};
        for (const std::string& one : names) {
            auto made = make_tracker(one);
            if (!made) {
                throw EngineError(made.error());
            }
            add(*made);
        }
    }
    return trackers;
}

}  // namespace

TrackerSet::TrackerSet(const AcceleratorOptions& options)
    : m_trackers(make_trackers(options.log_with)),
      m_logging_dir(options.logging_dir.empty() ? options.project.directory : options.logging_dir),
      m_is_main(!options.processes || options.processes->rank() == 0) {
    for (const auto& tracker : m_trackers) {
        if (tracker->needs_logging_dir() && m_logging_dir.empty()) {
            throw EngineError({ErrorCode::BadPlan, "the tracker " + tracker->name() + " needs a logging folder, and none was given",
                               "set AcceleratorOptions::logging_dir, or project.directory"});
        }
    }
}

void TrackerSet::start(TrackerStart start) {
    if (m_is_started) {
        throw EngineError({ErrorCode::BadPlan, "init_trackers was called twice", "call end_training() before a second run"});
    }
    start.logging_dir = m_logging_dir;
    if (m_is_main) {
        for (const auto& tracker : m_trackers) {
            if (auto started = tracker->start(start); !started) {
                refuse(*tracker, started.error());
            }
        }
    }
    m_is_started = true;
    m_skips = {};
    m_last_ns = monotonic_ns();
}

void TrackerSet::refuse_unless_started(const char* what) const {
    if (!m_is_started && !m_trackers.empty()) {
        throw EngineError({ErrorCode::BadPlan, std::string(what) + " was called, but no tracker is running",
                           "call init_trackers(project) first, and nothing after end_training()"});
    }
}

void TrackerSet::log(const TrackedValues& values, std::optional<std::int64_t> step) {
    refuse_unless_started("log");
    if (!m_is_main) {
        return;
    }
    for (const auto& tracker : m_trackers) {
        if (auto logged = tracker->log(values, step); !logged) {
            refuse(*tracker, logged.error());
        }
    }
}

void TrackerSet::attempt(const StepFacts& facts, std::int64_t applied) {
    const SkipKind kind = m_skips.record({facts.skipped, facts.nonfinite_loss, facts.loss_scale_after});
    if (!m_is_started || !m_is_main) {
        return;
    }
    TrackedAttempt told{step_row(facts), facts.losses};
    told.row.host_memory_bytes = resident_bytes();
    told.row.skip_kind = kind;
    told.row.applied_step = applied;
    const std::int64_t now = monotonic_ns();
    told.row.step_ns = now - m_last_ns;  // a program of one's own doesn't tell its data from its step
    m_last_ns = now;
    for (const auto& tracker : m_trackers) {
        if (auto heard = tracker->attempt(told); !heard) {
            refuse(*tracker, heard.error());
        }
    }
}

Tracker& TrackerSet::get(const std::string& name) {
    std::string known;
    for (const auto& tracker : m_trackers) {
        if (tracker->name() == name) {
            return *tracker;
        }
        known += (known.empty() ? "" : ", ") + tracker->name();
    }
    throw EngineError({ErrorCode::BadPlan, "this Accelerator has no tracker named \"" + name + "\"",
                       known.empty() ? "name trackers in AcceleratorOptions::log_with" : "it has " + known});
}

void TrackerSet::finish() {
    std::optional<EngineError> first;
    if (m_is_main && m_is_started) {
        for (const auto& tracker : m_trackers) {
            try {
                if (auto finished = tracker->finish(); !finished) {
                    refuse(*tracker, finished.error());
                }
            } catch (const EngineError& error) {
                if (!first) {
                    first.emplace(error);
                }
            }
        }
    }
    m_is_started = false;
    if (first) {
        throw EngineError(*first);
    }
}

}  // namespace mantissa
