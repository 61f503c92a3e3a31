#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "base/numbers.h"
#include "formats/csv_fields.h"
#include "formats/table_reader.h"
#include "formats/utf8.h"
#include "plan/nearest.h"
#include "samples/labels.h"
#include "samples/readers.h"

namespace mantissa::samples {
namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

HeaderLine header_of(TableHeader wish) {
    return wish == TableHeader::Names ? HeaderLine::Names : wish == TableHeader::None ? HeaderLine::None : HeaderLine::Detect;
}

/// A column by its name, or by its number from 1.
Result<std::size_t> find_column(const TableReader& table, const std::string& field, const std::string& wanted) {
    const auto& names = table.names();
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found != names.end()) {
        if (std::find(found + 1, names.end(), wanted) != names.end())
            return Error{ErrorCode::BadPlan, field + " is \"" + wanted + "\", which several columns are called", "give the column's number, from 1"};
        return static_cast<std::size_t>(found - names.begin());
    }
    if (const auto number = parse_int(wanted); number && *number >= 1 && *number <= table.columns()) return static_cast<std::size_t>(*number - 1);
    const auto nearest = nearest_names(wanted, names);
    return Error{ErrorCode::BadPlan, field + " is \"" + wanted + "\", which no column of the table is called",
                 nearest.empty() ? "its columns are " + join_names({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(names.size(), 12))}) +
                                       (names.size() > 12 ? ", …" : "") + "; a number counts from 1"
                                 : "did you mean " + join_names(nearest) + "?"};
}

/// The column that is called like one of labels; else the last.
std::size_t likely_label(const TableReader& table) {
    static constexpr std::array<const char*, 9> words{"label", "labels", "class", "target", "y", "species", "标签", "类别", "目标"};
    for (const char* word : words) {
        for (std::size_t i = 0; table.has_header() && i < table.names().size(); ++i)
            if (lower(table.names()[i]) == word) return i;
    }
    return table.names().size() - 1;
}

class TableSamples {
  public:
    TableSamples(TableReader table, const DatasetPlan& plan, const SampleLimits& limits)
        : m_table(std::move(table)), m_plan(plan), m_limits(limits), m_samples{{}, FloatStore(limits.bytes_in_memory), {}, {}} {}
    Result<Samples> read();

  private:
    Result<void> choose_columns();
    Result<bool> take_row(const std::vector<std::string>& fields);  // false: left out
    Result<float> number_of(std::size_t column, const std::string& field) const;

    TableReader m_table;
    const DatasetPlan& m_plan;
    SampleLimits m_limits;
    Samples m_samples;
    std::size_t m_label = 0;
    std::vector<std::size_t> m_features;
    std::vector<float> m_row;
    LabelCollector m_labels;
};

Result<void> TableSamples::choose_columns() {
    m_label = likely_label(m_table);
    if (!m_plan.labels.empty()) {
        const auto column = find_column(m_table, "dataset.labels", m_plan.labels);
        if (!column) return column.error();
        m_label = *column;
    }
    std::vector<bool> is_left_out(m_table.names().size(), false);
    is_left_out[m_label] = true;
    for (std::size_t i = 0; i < m_plan.leave_out.size(); ++i) {
        const auto column = find_column(m_table, "dataset.leave_out[" + std::to_string(i) + "]", m_plan.leave_out[i]);
        if (!column) return column.error();
        is_left_out[*column] = true;
    }
    for (std::size_t i = 0; i < is_left_out.size(); ++i) {
        if (is_left_out[i]) continue;
        m_features.push_back(i);
        m_samples.facts.columns.push_back(m_table.names()[i]);
    }
    m_samples.facts.target_name = m_table.names()[m_label];
    if (m_features.empty()) return Error{ErrorCode::BadPlan, "dataset.leave_out leaves no feature of the table", "leave fewer columns out"};
    return {};
}

Result<float> TableSamples::number_of(std::size_t column, const std::string& field) const {
    const auto value = formats::number_of(field);
    if (!value) {
        const bool has_comma = field.find(',') != std::string::npos && field.find_first_not_of("+-0123456789,") == std::string::npos;
        return m_table.error(column, (first_bad_utf8(field) ? "a text that isn't UTF-8" : formats::shown_field(field)) + " is no number",
                             has_comma ? "write decimals with a point: 3.14" : "leave the column out: dataset.leave_out, or name the labels: dataset.labels");
    }
    if (!std::isfinite(*value)) return m_table.error(column, "'" + field + "' is no finite number", "leave such samples out");
    if (std::abs(*value) > std::numeric_limits<float>::max()) return m_table.error(column, field + " is more than fp32 can hold", "scale the column");
    return static_cast<float>(*value);
}

Result<bool> TableSamples::take_row(const std::vector<std::string>& fields) {
    m_row.clear();
    std::int64_t missing = 0;
    if (is_missing(fields[m_label])) {
        if (m_plan.missing != MissingRule::Drop)
            return m_table.error(m_label, "the label is missing", "leave such samples out: dataset.missing drop");
        return false;
    }
    for (const std::size_t column : m_features) {
        if (is_missing(fields[column])) {
            if (m_plan.missing == MissingRule::Refuse)
                return m_table.error(column, "the value is missing", "leave such samples out: dataset.missing drop, or put the column's mean there: dataset.missing mean");
            if (m_plan.missing == MissingRule::Drop) return false;
            ++missing;
            m_row.push_back(std::numeric_limits<float>::quiet_NaN());
            continue;
        }
        const auto value = number_of(column, fields[column]);
        if (!value) return value.error();
        m_row.push_back(*value);
    }
    if (first_bad_utf8(fields[m_label])) return m_table.error(m_label, "the label isn't UTF-8", "save the table as UTF-8 (a spreadsheet's \"CSV UTF-8\")");
    if (!m_labels.add(fields[m_label]))
        return m_table.error(m_label, "with this label there are more than " + std::to_string(most_classes) + " different ones", "name the column of the labels: dataset.labels");
    m_samples.facts.missing += missing;
    if (auto done = m_samples.features.append(m_row); !done) return done.error();
    return true;
}

Result<Samples> TableSamples::read() {
    if (auto done = choose_columns(); !done) return done.error();
    SampleFacts& facts = m_samples.facts;
    std::vector<std::string> fields;
    while (m_limits.most_samples == 0 || facts.samples < m_limits.most_samples) {
        const auto more = m_table.next(fields);
        if (!more) return more.error();
        if (!*more) break;
        const auto taken = take_row(fields);
        if (!taken) return taken.error();
        ++(*taken ? facts.samples : facts.dropped);
    }
    if (facts.samples == 0)
        return Error{ErrorCode::InputOutput, m_plan.file + (facts.dropped > 0 ? " has no sample without missing values" : " holds names of columns and no row"),
                     facts.dropped > 0 ? "put means there: dataset.missing mean" : ""};
    facts.format = "CSV";
    facts.element = "number";
    facts.shape = {static_cast<std::int64_t>(m_features.size())};
    if (auto done = m_labels.finish(m_plan.target, m_limits.most_samples != 0, m_samples); !done)
        return Error{done.error().code, m_plan.file + (m_table.has_header() ? ": the label column " : ": the label in ") + facts.target_name + " " + done.error().message, done.error().hint};
    return std::move(m_samples);
}

}  // namespace

Result<Samples> read_table(const DatasetPlan& plan, const SampleLimits& limits) {
    auto table = TableReader::open(plan.file, {.header = header_of(plan.header)});
    if (!table) return table.error();
    return TableSamples(std::move(*table), plan, limits).read();
}

}  // namespace mantissa::samples
