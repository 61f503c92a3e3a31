#include "ui/numerics/numerics_reader.h"

#include <QMetaObject>
#include <algorithm>
#include <chrono>
#include <limits>

#include "base/file_stamp.h"
#include "record/comparison_record.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

constexpr auto pollInterval = std::chrono::milliseconds(400);  // a heat map isn't watched like a curve
constexpr auto forecastInterval = std::chrono::seconds(5);

}  // namespace

/// Lives on the reader's thread.
class NumericsReader::Worker {
  public:
    /// True when there is something new to show.
    bool look(const NumericsRequest& request);
    [[nodiscard]] NumericsSnapshot snapshot() const;

  private:
    void findRuns();
    void growHeat();
    void findPick();
    bool findForecast();
    [[nodiscard]] std::optional<double> scaleAt(std::int64_t step) const;
    [[nodiscard]] std::int64_t knownUpTo() const;
    [[nodiscard]] std::string worstTensor() const;
    [[nodiscard]] const RunNumbers* scalerRun() const;
    [[nodiscard]] RunNumbers* chosen() const { return m_request.run < m_runs.size() ? m_runs[m_request.run].get() : nullptr; }

    NumericsRequest m_request;
    std::optional<FileStamp> m_recordSeen;
    std::vector<std::unique_ptr<RunNumbers>> m_runs;
    TensorHeat m_heat;
    std::int64_t m_heatNext = 0;  // steps before it are in the heat map
    std::shared_ptr<const TensorHeat> m_shownHeat = std::make_shared<TensorHeat>();
    std::shared_ptr<const TensorPick> m_pick;
    std::shared_ptr<const Forecast> m_forecast;
    std::int64_t m_foretoldRecords = 0;  // that the forecast was made from
    std::chrono::steady_clock::time_point m_foretoldAt;
    std::string m_problem;
};

bool NumericsReader::Worker::look(const NumericsRequest& request) {
    const bool isAnother = request != m_request;
    bool isNews = isAnother;
    if (request.folder != m_request.folder) {
        m_runs.clear();
        m_recordSeen.reset();
        m_problem.clear();
        m_forecast.reset();
        m_foretoldRecords = 0;
    }
    if (request.folder != m_request.folder || request.run != m_request.run || request.role != m_request.role) {
        m_heat = {};
        m_heatNext = 0;
        m_shownHeat = std::make_shared<TensorHeat>();
    }
    m_request = request;
    if (m_request.folder.empty()) {
        m_pick.reset();
        return isNews;
    }
    const std::size_t runsBefore = m_runs.size();
    const std::string problemBefore = m_problem;
    findRuns();
    isNews = isNews || runsBefore != m_runs.size() || problemBefore != m_problem;
    for (const auto& run : m_runs) {
        isNews = run->advance() || isNews;
    }
    if (isNews) {
        growHeat();
        findPick();
    }
    // What was asked for is shown first; the forecast follows.
    return (!isAnother && findForecast()) || isNews;
}

void NumericsReader::Worker::findRuns() {
    std::error_code error;
    if (fs::exists(RunFolder{m_request.folder}.plan(), error)) {
        if (m_runs.empty()) {
            m_runs.push_back(std::make_unique<RunNumbers>(m_request.folder, Precision::No));
        }
        return;
    }
    const std::optional<FileStamp> written = file_stamp(m_request.folder / "comparison.json");
    if (!written || m_recordSeen == written) {
        return;
    }
    m_recordSeen = written;
    const auto record = read_comparison(m_request.folder);
    m_problem = record ? std::string() : describe(record.error());
    for (std::size_t i = m_runs.size(); record && i < record->run_dirs.size(); ++i) {
        m_runs.push_back(std::make_unique<RunNumbers>(record->run_dirs[i], i < record->modes.size() ? record->modes[i] : Precision::No));
    }
}

/// The run whose scaler the lens looks through: the chosen one, else the comparison's fp16 run.
const RunNumbers* NumericsReader::Worker::scalerRun() const {
    const RunNumbers* own = chosen();
    if (own && own->facts().lossScale) {
        return own;
    }
    const auto found = std::find_if(m_runs.begin(), m_runs.end(), [](const auto& run) { return run->facts().mode == Precision::Fp16; });
    return found == m_runs.end() ? nullptr : found->get();
}

std::optional<double> NumericsReader::Worker::scaleAt(std::int64_t step) const {
    const RunNumbers* run = scalerRun();
    return run ? run->lossScaleAt(step) : std::nullopt;
}

/// A step whose loss scale isn't known yet waits, so that a picture never depends on who was faster.
std::int64_t NumericsReader::Worker::knownUpTo() const {
    const RunNumbers* run = scalerRun();
    const bool mustWait = run && m_request.role == TensorRole::Gradient && run != chosen() && !run->facts().hasEnded();
    return mustWait ? run->lastStep() : std::numeric_limits<std::int64_t>::max();
}

void NumericsReader::Worker::growHeat() {
    RunNumbers* run = chosen();
    if (!run) {
        return;
    }
    const auto rows = run->records(m_request.role, {}, m_heatNext, knownUpTo());
    if (!rows) {
        m_problem = describe(rows.error());
        return;
    }
    if (rows->empty()) {
        return;
    }
    for (const TensorStatRow& row : *rows) {
        m_heat.add(row, m_request.role == TensorRole::Gradient ? scaleAt(row.step).value_or(1) : 1);
        m_heatNext = row.step + 1;
    }
    m_shownHeat = std::make_shared<TensorHeat>(m_heat);
}

/// The tensor that a person would want to see first at the last step: the first non-finite one on the way, else the one nearest to fp16's
/// limit.
std::string NumericsReader::Worker::worstTensor() const {
    if (m_heat.isEmpty()) {
        return {};
    }
    const std::size_t column = m_heat.columns().size() - 1;
    std::optional<std::size_t> worst;
    for (std::size_t row = 0; row < m_heat.tensors().size(); ++row) {
        const HeatCell* cell = m_heat.cell(row, column);
        const HeatCell* best = worst ? m_heat.cell(*worst, column) : nullptr;
        // Where one is bad, those after it are mostly bad for that reason.
        const auto rank = [](const HeatCell& c) { return c.nonfinite > 0 ? std::pair(1, 0.0) : std::pair(0, c.largest.value_or(0) * c.lossScale); };
        if (cell && (!best || rank(*cell) > rank(*best))) {
            worst = row;
        }
    }
    return m_heat.tensors()[worst.value_or(0)];
}

void NumericsReader::Worker::findPick() {
    RunNumbers* run = chosen();
    std::string tensor = m_request.tensor;
    if (tensor.empty() || !m_heat.indexOf(tensor)) {
        tensor = worstTensor();
    }
    std::optional<std::int64_t> step = m_request.step;
    if (!step && !m_heat.isEmpty()) {
        step = m_heat.columns().back().last;
    }
    if (!run || tensor.empty() || !step) {
        m_pick.reset();
        return;
    }
    if (m_pick && m_pick->row.tensor == tensor && m_pick->row.step == *step && m_pick->row.role == m_request.role &&
        m_pick->run == m_request.run && m_pick->folder == m_request.folder) {
        return;
    }
    // The step itself, else the last record before it (another tensor's step needn't be this one's).
    auto rows = run->records(m_request.role, tensor, *step, *step);
    if (rows && rows->empty()) {
        rows = run->records(m_request.role, tensor, std::max<std::int64_t>(0, *step - 1000), *step);
    }
    if (!rows || rows->empty()) {
        m_pick.reset();
        return;
    }
    auto pick = std::make_shared<TensorPick>();
    pick->run = m_request.run;
    pick->folder = m_request.folder;
    pick->row = std::move(rows->back());
    pick->lossScale = scaleAt(pick->row.step);
    if (auto input = lens_input(pick->row); input) {
        for (std::size_t i = 0; i < lensFormats.size(); ++i) {
            pick->curves[i] = lens_curve(*input, lensFormats[i]);
        }
        pick->input = std::move(*input);
    } else {
        pick->problem = describe(input.error());
    }
    m_pick = std::move(pick);
}

/// It reads the whole record of the control: while that run goes on, only when the record has grown by a quarter, and once more when it is
/// over. True when there is a new one.
bool NumericsReader::Worker::findForecast() {
    const auto control = std::find_if(m_runs.begin(), m_runs.end(), [](const auto& run) { return run->facts().mode == Precision::No; });
    if (control == m_runs.end()) {
        return false;
    }
    const RunFacts& facts = (*control)->facts();
    const std::int64_t records = facts.records[roleIndex(TensorRole::Output)];
    const bool hasGrown = records - m_foretoldRecords > m_foretoldRecords / 4;
    const auto now = std::chrono::steady_clock::now();
    if (records == m_foretoldRecords || (!facts.hasEnded() && (!hasGrown || now - m_foretoldAt < forecastInterval))) {
        return false;
    }
    m_foretoldRecords = records;
    m_foretoldAt = now;
    auto forecast = read_forecast(facts.folder);
    if (!forecast || forecast->empty()) {
        return false;
    }
    m_forecast = std::make_shared<const Forecast>(std::move(*forecast));
    return true;
}

NumericsSnapshot NumericsReader::Worker::snapshot() const {
    NumericsSnapshot made{m_request, {}, m_shownHeat, m_pick, m_forecast, m_problem};
    for (const auto& run : m_runs) {
        made.runs.push_back(run->facts());
    }
    return made;
}

NumericsReader::NumericsReader(QObject* parent) : QObject(parent) {
    m_thread = std::jthread([this](std::stop_token stop) { work(std::move(stop)); });
}

NumericsReader::~NumericsReader() {
    m_thread.request_stop();
    m_thread.join();
}

void NumericsReader::setRequest(const NumericsRequest& request) {
    m_wanted = request;
    {
        const std::lock_guard lock(m_mutex);
        m_request = request;
        m_isAsked = true;
    }
    m_wake.notify_all();
}

void NumericsReader::setActive(bool active) {
    {
        const std::lock_guard lock(m_mutex);
        m_isActive = active;
        m_isAsked = m_isAsked || active;
    }
    m_wake.notify_all();
}

void NumericsReader::work(std::stop_token stop) {
    Worker worker;
    std::unique_lock lock(m_mutex);
    while (!stop.stop_requested()) {
        m_wake.wait(lock, stop, [this] { return m_isActive; });
        if (stop.stop_requested()) {
            return;
        }
        m_isAsked = false;
        const NumericsRequest request = m_request;
        lock.unlock();
        std::optional<NumericsSnapshot> made;
        if (worker.look(request)) {
            made = worker.snapshot();
        }
        lock.lock();
        if (made) {
            m_pending = std::move(made);
            if (!m_isPosted) {
                m_isPosted = true;
                QMetaObject::invokeMethod(
                    this,
                    [this] {
                        {
                            const std::lock_guard guard(m_mutex);
                            m_snapshot = std::move(*m_pending);
                            m_pending.reset();
                            m_isPosted = false;
                        }
                        Q_EMIT changed();
                    },
                    Qt::QueuedConnection);
            }
        }
        m_wake.wait_for(lock, stop, pollInterval, [this] { return m_isAsked; });
    }
}

}  // namespace mantissa::ui
