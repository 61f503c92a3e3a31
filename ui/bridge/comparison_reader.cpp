#include "ui/bridge/comparison_reader.h"

#include "base/files.h"
#include "judge/fairness.h"
#include "judge/judge.h"
#include "judge/texts.h"
#include "record/replica.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

/// The decision as this language has it; empty when the catalogue doesn't know its code (a newer or older program wrote it).
std::string decisionText(const Decision& decision, const std::string& language) {
    const auto texts = text_catalogue(language);
    constexpr std::string_view prefix = "decision_";
    if (!texts || !decision.code.starts_with(prefix)) {
        return {};
    }
    const auto text = (*texts)->fill("decisions." + decision.code.substr(prefix.size()), decision.values);
    return text ? *text : std::string();
}

void translateVerdicts(std::vector<Verdict>& verdicts, const std::string& language) {
    const auto texts = text_catalogue(language);
    for (Verdict& verdict : verdicts) {
        if (const auto text = texts ? verdict_text(verdict, **texts) : Result<std::string>(texts.error()); text) {
            verdict.text = *text;
        }
    }
}

}  // namespace

ComparisonReader::ComparisonReader(fs::path folder, bool isComparison)
    : m_folder(std::move(folder)), m_file(isComparison ? m_folder / "comparison.json" : RunFolder{m_folder}.verdicts()),
      m_isComparison(isComparison) {}

std::optional<ComparisonSnapshot> ComparisonReader::look(const std::string& language) {
    std::error_code error;
    const std::optional<FileStamp> written = file_stamp(m_file);
    const bool isNew = written && (m_seen != written || m_language != language);
    if (isNew) {
        m_seen = written;
        m_language = language;
        m_isComparison ? readComparison(language) : readSingle(language);
    }
    if (!written && m_snapshot.problem.empty() && !fs::exists(m_folder, error)) {
        m_snapshot.problem = "there is no folder " + m_folder.string();
        return m_snapshot;
    }
    const bool isFairnessNew = findFairness(language);
    return isNew || isFairnessNew ? std::optional(m_snapshot) : std::nullopt;
}

void ComparisonReader::readSingle(const std::string& language) {
    auto verdicts = read_verdicts(m_folder);
    m_snapshot.problem = verdicts ? std::string() : describe(verdicts.error());
    if (verdicts) {
        m_snapshot.verdicts = std::move(*verdicts);
        translateVerdicts(m_snapshot.verdicts, language);
    }
}

void ComparisonReader::readComparison(const std::string& language) {
    auto record = read_comparison(m_folder);
    m_snapshot.problem = record ? std::string() : describe(record.error());
    if (!record) {
        return;
    }
    if (record->decision && has_ended(*record)) {
        const std::string text = decisionText(*record->decision, language);
        // Evidence and reasons are recorded as sentences of one language only: another one needs the judge.
        if (!text.empty() && text != record->decision->text) {
            if (auto judged = judge_comparison(m_folder, language); judged) {
                record = std::move(judged);
            }
        }
    }
    m_snapshot.verdicts = record->verdicts;
    translateVerdicts(m_snapshot.verdicts, language);
    m_snapshot.record = std::move(*record);
    m_snapshot.repetitions.clear();
    const auto replicas = read_replica_runs(m_folder);
    for (std::size_t i = 0; replicas && i < replicas->size(); ++i) {
        if ((*replicas)[i].replica.role == ReplicaRole::Repetition) {
            m_snapshot.repetitions.push_back((*replicas)[i].run_dir);
        }
    }
}

bool ComparisonReader::findFairness(const std::string& language) {
    if (!m_snapshot.record || m_snapshot.record->fairness.known || m_snapshot.record->run_dirs.empty()) {
        return false;
    }
    const auto texts = text_catalogue(language);
    std::vector<RunEvidence> runs;
    for (std::size_t i = 0; i < m_snapshot.record->run_dirs.size(); ++i) {
        const auto environment = read_file(RunFolder{m_snapshot.record->run_dirs[i]}.environment());
        if (!environment || !texts) {
            return false;
        }
        RunEvidence run;
        run.environment_json = *environment;
        run.summary.mode = i < m_snapshot.record->modes.size() ? m_snapshot.record->modes[i] : Precision::No;
        runs.push_back(std::move(run));
    }
    m_snapshot.record->fairness = fill_fairness(compare_environments(runs, m_snapshot.record->order), **texts);
    return m_snapshot.record->fairness.known;
}

}  // namespace mantissa::ui
