#pragma once
// One line of the Runs page: a comparison with its runs, or a single run. Facts only; words and colours come
// later.
#include <QString>
#include <QStringList>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "record/comparison_record.h"
#include "record/rows.h"

namespace mantissa::ui {

struct RunOfEntry {
    Precision mode = Precision::No;
    RunState state = RunState::Queued;
    std::string stateReason;
    std::filesystem::path folder;
    std::int64_t steps = 0, plannedSteps = 0;
    std::optional<double> finalLoss;
    int checkpoints = 0;               // saved states that a run can go on from
    std::int64_t checkpointStep = 0;   // of the newest
    std::int64_t checkpointBytes = 0;  // of all
    std::optional<std::int64_t> incidentStep;  // the first step that can be looked at
    bool operator==(const RunOfEntry&) const = default;
};

struct RunEntry {
    bool isComparison = false;
    std::vector<std::filesystem::path> replicas;  // of the control: they belong to their comparison and are no rows of their own
    std::filesystem::path folder;  // of the comparison, or of the run
    std::string name, model, dataset;
    std::int64_t startedNs = 0;
    std::vector<RunOfEntry> runs;
    bool isAlive = false;      // a supervisor works on it now
    std::optional<Repeating> repeating;  // its modes have ended, and its control is run again
    std::string problem;       // why it can't be read; the entry is shown all the same
    std::string decisionCode;  // of a comparison that was decided
    std::string decisionText;
    bool operator==(const RunEntry&) const = default;
};

/// The state that stands for the whole entry: the one of its runs that needs attention first.
[[nodiscard]] RunState stateOf(const RunEntry& entry);

}  // namespace mantissa::ui
