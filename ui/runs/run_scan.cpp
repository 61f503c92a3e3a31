#include "ui/runs/run_scan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "judge/texts.h"
#include "launch/run_lookup.h"
#include "record/checkpoint_info.h"
#include "record/comparison_record.h"
#include "record/replica.h"
#include "record/run_folder.h"
#include "record/replay_report.h"
#include "record/run_summary.h"

namespace mantissa::ui {
namespace {

namespace fs = std::filesystem;

int urgency(RunState state) {
    switch (state) {
        case RunState::Running:
            return 9;
        case RunState::Paused:
            return 8;
        case RunState::Trial:
            return 7;
        case RunState::Queued:
            return 6;
        case RunState::Lost:
            return 5;
        case RunState::Failed:
            return 4;
        case RunState::Interrupted:
            return 3;
        case RunState::StoppedNonfinite:
            return 2;
        case RunState::Stopped:
            return 1;
        case RunState::Finished:
            return 0;
    }
    return 0;
}

bool hasEnded(const RunEntry& entry) {
    return !entry.isAlive && entry.problem.empty() &&
           std::all_of(entry.runs.begin(), entry.runs.end(),
                       [](const RunOfEntry& run) { return is_end_state(run.state); });
}

std::string decisionSentence(const Decision& decision, const std::string& language) {
    constexpr std::string_view prefix = "decision_";  // of the code; the catalogue's key goes without
    const auto texts = text_catalogue(language);
    if (texts && decision.code.starts_with(prefix)) {
        if (auto text =
                texts.value()->fill("decisions." + decision.code.substr(prefix.size()), decision.values)) {
            return text.value();
        }
    }
    return decision.text;
}

}  // namespace

RunState stateOf(const RunEntry& entry) {
    RunState worst = entry.problem.empty() ? RunState::Finished : RunState::Failed;
    for (const RunOfEntry& run : entry.runs) {
        if (urgency(run.state) > urgency(worst)) {
            worst = run.state;
        }
    }
    return worst;
}

RunOfEntry RunScan::readRun(const fs::path& folder, RunEntry& entry) {
    RunOfEntry run;
    run.folder = folder;
    const auto summary = summarize_run(folder);
    if (!summary) {
        entry.problem = describe(summary.error());
        return run;
    }
    run.mode = summary->mode;
    run.state = summary->state;
    run.stateReason = summary->state_reason;
    run.steps = summary->steps;
    run.plannedSteps = summary->planned_steps;
    run.finalLoss = summary->final_loss;
    const CheckpointList saved = list_checkpoints(folder);
    run.checkpoints = static_cast<int>(saved.checkpoints.size());
    run.checkpointStep = saved.checkpoints.empty() ? 0 : saved.checkpoints.front().step;
    run.checkpointBytes = saved.bytes();
    const std::vector<std::int64_t> incidents = incident_steps(folder);
    run.incidentStep = incidents.empty() ? summary->first_nonfinite_step : std::optional(incidents.front());
    if (entry.name.empty()) {
        entry.name = summary->name;
    }
    entry.model = summary->model;
    entry.dataset = summary->dataset;
    if (entry.startedNs == 0) {
        entry.startedNs = summary->started_ns;
    }
    return run;
}

RunEntry RunScan::readComparison(const fs::path& folder, const std::string& language) {
    RunEntry entry;
    entry.isComparison = true;
    entry.folder = folder;
    const auto record = read_comparison(folder);
    if (!record) {
        entry.problem = describe(record.error());
        entry.name = folder.filename().string();
        return entry;
    }
    entry.name = record->name;
    entry.startedNs = record->started_ns;
    entry.isAlive = has_supervisor(folder);
    entry.repeating = entry.isAlive ? record->repeating : std::nullopt;
    for (std::size_t i = 0; i < record->run_dirs.size(); ++i) {
        entry.runs.push_back(readRun(record->run_dirs[i], entry));
        if (i < record->modes.size()) {
            entry.runs.back().mode = record->modes[i];
        }
    }
    if (const auto replicas = read_replica_runs(folder)) {
        for (const ReplicaRun& one : *replicas) {
            entry.replicas.push_back(one.run_dir);
        }
    }
    if (record->decision) {
        entry.decisionCode = record->decision->code;
        entry.decisionText = decisionSentence(*record->decision, language);
    }
    return entry;
}

Result<std::vector<RunEntry>> RunScan::read(const fs::path& runs, const std::string& language) {
    std::error_code failure;
    if (!fs::exists(runs, failure)) {
        return std::vector<RunEntry>{};
    }
    const auto comparisons = list_comparisons(runs);
    if (!comparisons) {
        return comparisons.error();
    }
    const auto folders = list_run_folders(runs);
    if (!folders) {
        return folders.error();
    }
    std::vector<RunEntry> entries;
    std::set<std::string> inComparison;
    const auto remember = [&](const fs::path& folder, auto&& readEntry) {
        const std::string key = language + folder.string();
        const auto known = m_ended.find(key);
        entries.push_back(known != m_ended.end() ? known->second : readEntry());
        // A comparison isn't over before its decision is written.
        const RunEntry& entry = entries.back();
        if (known == m_ended.end() && hasEnded(entry) &&
            (!entry.isComparison || !entry.decisionCode.empty())) {
            m_ended.emplace(key, entry);
        }
    };
    for (const std::string& id : *comparisons) {
        const fs::path folder = comparison_folder(runs, id);
        remember(folder, [&] { return readComparison(folder, language); });
        for (const RunOfEntry& run : entries.back().runs) {
            inComparison.insert(run.folder.filename().string());
        }
        for (const fs::path& replica : entries.back().replicas) {
            inComparison.insert(replica.filename().string());
        }
    }
    for (const RunFolder& folder : *folders) {
        if (inComparison.contains(folder.path.filename().string())) {
            continue;
        }
        remember(folder.path, [&] {
            RunEntry entry;
            entry.folder = folder.path;
            entry.isAlive = has_supervisor(folder.path);
            entry.runs.push_back(readRun(folder.path, entry));
            if (entry.name.empty()) {
                entry.name = folder.path.filename().string();
            }
            return entry;
        });
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const RunEntry& a, const RunEntry& b) { return a.startedNs > b.startedNs; });
    return entries;
}

RunScanner::RunScanner(QObject* parent) : QObject(parent), m_worker(new QObject) {
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread.setObjectName(QStringLiteral("run-scanner"));
    m_thread.start();
}

RunScanner::~RunScanner() {
    m_thread.quit();
    m_thread.wait();
}

void RunScanner::look(const fs::path& runs, const QString& language) {
    m_runs = runs;
    m_language = language;
    if (m_busy) {
        m_again = true;
        return;
    }
    startLook();
}

void RunScanner::startLook() {
    m_busy = true;
    m_again = false;
    const auto work = [this, runs = m_runs, language = m_language.toStdString()] {
        auto entries = m_scan.read(runs, language);
        const auto answer = [this, entries = std::move(entries)] {
            m_busy = false;
            if (entries) {
                Q_EMIT found(*entries);
            } else {
                Q_EMIT failed(QString::fromStdString(describe(entries.error())));
            }
            if (m_again) {
                startLook();
            }
        };
        QMetaObject::invokeMethod(this, answer, Qt::QueuedConnection);
    };
    QMetaObject::invokeMethod(m_worker, work, Qt::QueuedConnection);
}

}  // namespace mantissa::ui
