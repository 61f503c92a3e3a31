#include "ui/numerics/run_numbers.h"

#include <algorithm>

#include "base/files.h"
#include "base/numbers.h"
#include "record/meta_keys.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace {

constexpr std::size_t timedSteps = 200;

std::int64_t medianOf(std::vector<std::int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

std::size_t roleIndex(TensorRole role) {
    return static_cast<std::size_t>(std::find(tensorRoles.begin(), tensorRoles.end(), role) - tensorRoles.begin());
}

bool RunFacts::hasRecords() const {
    return std::any_of(records.begin(), records.end(), [](std::int64_t count) { return count > 0; });
}

RunNumbers::RunNumbers(std::filesystem::path folder, Precision mode) {
    m_facts.folder = std::move(folder);
    m_facts.mode = mode;
}

bool RunNumbers::advance() {
    const RunFolder folder{m_facts.folder};
    std::error_code ignored;
    if (!m_reader) {
        if (!std::filesystem::exists(folder.database(), ignored)) {
            return false;  // waited for
        }
        auto opened = RunReader::open(folder.path);
        if (!opened) {
            const bool isNew = m_facts.problem != describe(opened.error());
            m_facts.problem = describe(opened.error());
            return isNew;
        }
        m_reader = std::move(*opened);
    }
    if (m_facts.planJson.empty()) {
        if (auto plan = read_file(folder.plan()); plan) {
            m_facts.planJson = std::move(*plan);
        }
    }
    const RunState before = m_facts.state;
    if (const auto state = m_reader->state(); state) {
        m_facts.state = state->state;
    }
    const auto rows = m_reader->read_new();
    const std::string problem = rows ? std::string() : describe(rows.error());
    const bool isNews = problem != m_facts.problem || before != m_facts.state || (rows && !rows->empty()) || m_facts.meta.empty();
    m_facts.problem = problem;
    if (rows && isNews) {
        take(*rows);
        if (auto meta = m_reader->meta(); meta) {
            takeMeta(std::move(*meta));
        }
    }
    return isNews;
}

void RunNumbers::takeMeta(std::map<std::string, std::string> values) {
    const auto level = values.find(meta::watch_level), before = m_facts.meta.find(meta::watch_level);
    if (level != values.end() && before != m_facts.meta.end() && level->second != before->second) {
        m_facts.watchedStepsBefore = parse_double(values[meta::watch_steps]).value_or(0);
        m_facts.watchedNsBefore = parse_double(values[meta::watch_ns]).value_or(0);
    }
    m_facts.meta = std::move(values);
    if (const auto mode = m_facts.meta.find(meta::mode); mode != m_facts.meta.end()) {
        m_facts.mode = parse_precision(mode->second).value_or(m_facts.mode);
    }
}

void RunNumbers::take(const RunRows& rows) {
    if (m_facts.steps == 0 && !rows.steps.empty()) {
        m_firstStep = rows.steps.front().step;
    }
    m_facts.steps += static_cast<std::int64_t>(rows.steps.size());
    for (const StepRow& row : rows.steps) {
        m_stepNs.push_back(row.step_ns);
        if (row.loss_scale) {
            if (m_facts.lossScale != row.loss_scale) {
                m_scales[row.step] = *row.loss_scale;
            }
            m_facts.lossScale = row.loss_scale;
        }
    }
    if (m_stepNs.size() > timedSteps) {
        m_stepNs.erase(m_stepNs.begin(), m_stepNs.end() - timedSteps);
    }
    if (!rows.steps.empty()) {
        m_facts.stepNs = medianOf(m_stepNs);
    }
    m_facts.ops.insert(m_facts.ops.end(), rows.op_dtypes.begin(), rows.op_dtypes.end());
    for (const TensorStatRow& row : rows.tensor_stats) {
        ++m_facts.records[roleIndex(row.role)];
        if (row.role == TensorRole::Update) {
            m_facts.updates[row.tensor] = row;
        } else if (row.role == TensorRole::Weight) {
            m_facts.weights[row.tensor] = row;
        }
    }
    for (const LocalErrorRow& row : rows.local_errors) {
        if (!m_facts.localErrors.empty() && m_facts.localErrors.front().step != row.step) {
            m_facts.localErrors.clear();
        }
        m_facts.localErrors.push_back(row);
    }
}

std::optional<double> RunNumbers::lossScaleAt(std::int64_t step) const {
    const auto after = m_scales.upper_bound(step);
    return after == m_scales.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

Result<std::vector<TensorStatRow>> RunNumbers::records(TensorRole role, const std::string& tensor, std::int64_t from, std::int64_t to) {
    if (!m_reader) {
        return std::vector<TensorStatRow>{};
    }
    return m_reader->tensor_stats(role, tensor, from, to);
}

}  // namespace mantissa::ui
