#include "run/incident_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "record/place_name.h"

namespace mantissa {
namespace {

constexpr std::size_t series_told = 128;  // of models with more tensors, those with the largest last values

std::string place_of(const IncidentRow& row) { return place_name(row.module, row.op); }

// From one list of values a step to one list of steps a value.
void add_series(std::vector<IncidentReport::Watched>& to, const std::vector<ExtremesRow>& steps, const std::vector<std::string>& names,
                const char* quantity, std::vector<float> ExtremesRow::* values) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        IncidentReport::Watched one{names[i], quantity, {}};
        for (const ExtremesRow& row : steps) {
            if (i < (row.*values).size()) one.largest.push_back({row.first_step, (row.*values)[i]});
        }
        if (one.largest.empty()) continue;
        one.largest = thinned(one.largest);
        to.push_back(std::move(one));
    }
}

}  // namespace

std::vector<StepValue> thinned(const std::vector<StepValue>& values, std::size_t most) {
    if (values.size() <= most) return values;
    const std::size_t stretch = (values.size() + most - 1) / most;
    std::vector<StepValue> kept;
    for (std::size_t begin = 0; begin < values.size(); begin += stretch) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = values.begin() + static_cast<std::ptrdiff_t>(std::min(begin + stretch, values.size()));
        kept.push_back(*std::max_element(first, last, [](const StepValue& a, const StepValue& b) {
            return !std::isnan(a.value) && (std::isnan(b.value) || a.value < b.value);
        }));
    }
    return kept;
}

std::string IncidentLog::key_of(const IncidentRow& row) {
    return (row.kind == "scale_collapse" ? row.kind + " " + row.severity : row.kind) + " " + place_of(row);
}

bool IncidentLog::record(const IncidentRow& row) {
    if (!m_rows.insert(key_of(row)).second) return false;
    if (m_rank)
        m_waiting_rows.push_back(row);
    else
        m_recorder.incident(row);
    return true;
}

std::vector<IncidentReport::Watched> IncidentLog::watched() const {
    std::vector<IncidentReport::Watched> all;
    if (!m_sources.last_extremes) return all;
    const std::vector<ExtremesRow> steps = m_sources.last_extremes();
    add_series(all, steps, m_sources.parameters, "gradient", &ExtremesRow::gradient);
    add_series(all, steps, m_sources.parameters, "parameter", &ExtremesRow::parameter);
    if (all.size() <= series_told) return all;
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.largest.back().value > b.largest.back().value; });
    all.resize(series_told);
    return all;
}

void IncidentLog::write(const Incident& incident) {
    const std::string place = incident.birth ? incident.birth->producer.phase + " " + incident.birth->place() : place_of(incident.row);
    if (m_files_left == 0 || !m_places.insert(place).second) return;
    const auto folder = incident_folder(m_folder.path, incident.row.step);
    std::error_code ignored;
    if (std::filesystem::exists(folder / "incident.json", ignored)) return;  // of an earlier place in this step
    --m_files_left;
    if (m_rank)
        m_waiting_files.push_back(report_of(incident));
    else
        put(report_of(incident));
}

IncidentReport IncidentLog::report_of(const Incident& incident) const {
    return {.step = incident.row.step, .mode = m_mode, .kind = incident.row.kind, .severity = incident.row.severity,
            .loss = incident.loss, .loss_scale = incident.loss_scale, .micro_batch = incident.micro_batch, .rank = m_rank,
            .birth = incident.birth, .watched = watched(), .states = {}, .no_states = "this run keeps no states"};
}

void IncidentLog::put(IncidentReport report) {
    const auto folder = incident_folder(m_folder.path, report.step);
    // First without the states: writing them takes longest, and what is known must outlive whatever happens there.
    Result<void> written = write_incident(folder, report);
    if (written && m_sources.write_states) {
        KeptStateFiles files = m_sources.write_states(folder, report.step);
        report.states = std::move(files.names);
        report.state_bytes = files.bytes;
        report.no_states = std::move(files.reason);
        written = write_incident(folder, report);
    }
    if (!written) log::warning("the incident of step " + std::to_string(report.step) + " was not written: " + describe(written.error()));
    // What the recorder can't write stops the run at the next step, with its own sentence.
    static_cast<void>(m_recorder.sync());
}

}  // namespace mantissa
