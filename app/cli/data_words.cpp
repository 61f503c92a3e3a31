#include "data_words.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "formats/array_reader.h"
#include "output.h"
#include "table.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_columns = 40, most_classes = 12;

std::string count_of(std::int64_t count, const char* what) { return readable_count(count) + " " + what + (count == 1 ? "" : "s"); }

std::string target_words(const Samples& samples, const SampleStatistics& statistics) {
    const SampleFacts& facts = samples.facts;
    const auto classes = static_cast<std::int64_t>(facts.classes.size());
    switch (facts.target) {
        case SampleTarget::Classes: return "labels: " + facts.target_name + ", " + readable_count(classes) + (classes == 1 ? " class" : " classes");
        case SampleTarget::Values:
            return "labels: " + facts.target_name + ", values from " + readable_statistic(statistics.smallest_value) + " to " + readable_statistic(statistics.largest_value) + ", mean " +
                   readable_statistic(statistics.mean_value);
        case SampleTarget::NextToken: return "to be learned: the next of " + count_of(classes, "different character");
    }
    return "";
}

/// "–" for none, else how many and which share.
std::string part_of(std::int64_t part, std::int64_t whole) {
    if (part == 0) return "–";
    return readable_count(part) + " (" + readable_percent(static_cast<double>(part) / static_cast<double>(whole)) + ")";
}

void add_statistics(Table& table, const ColumnStatistics& column) {
    table.add_row({column.name, readable_statistic(column.smallest), readable_statistic(column.largest), readable_statistic(column.mean), readable_statistic(column.deviation),
                   part_of(column.missing, column.count + column.missing), part_of(column.beyond_fp16, column.count), part_of(column.squares_beyond_fp16, column.count),
                   part_of(column.flushed, column.count), part_of(column.squares_flushed, column.count)});
}

void print_statistics(const SampleStatistics& statistics) {
    Table table;
    table.add_column("");
    for (const char* title : {"smallest", "largest", "mean", "deviation", "missing", "Inf in fp16", "square Inf", "0 in fp16", "square 0"}) table.add_column(title, Table::Align::Right);
    const std::size_t shown = std::min(statistics.columns.size(), most_columns);
    for (std::size_t i = 0; i < shown; ++i) add_statistics(table, statistics.columns[i]);
    add_statistics(table, statistics.all);
    print_table(table);
    if (shown < statistics.columns.size()) print("    … and " + count_of(static_cast<std::int64_t>(statistics.columns.size() - shown), "more column") + " (--json has all)");
}

// A line break or a blank among the characters of a text would not be seen.
std::string class_text(const std::string& name) {
    if (name == "\n") return "\\n";
    if (name == " ") return "blank";
    if (name == "\t") return "\\t";
    return name;
}

void print_classes(const SampleFacts& facts, const SampleStatistics& statistics) {
    if (statistics.of_class.empty()) return;
    std::vector<std::size_t> order(facts.classes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() > most_classes) std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return statistics.of_class[a] > statistics.of_class[b]; });
    std::string text;
    for (std::size_t i = 0; i < std::min(order.size(), most_classes); ++i)
        text += (text.empty() ? "" : ", ") + class_text(facts.classes[order[i]]) + " " + readable_count(statistics.of_class[order[i]]);
    print_wrapped(text + (order.size() > most_classes ? ", …" : ""), 4, facts.are_tokens ? "characters: " : "classes: ");
}

/// Rows of a picture, one channel, two of its rows in one of the text.
std::vector<std::string> picture(const float* values, std::int64_t height, std::int64_t width, float low, float high) {
    static constexpr const char* shades[] = {" ", "░", "▒", "▓", "█"};
    std::vector<std::string> rows;
    for (std::int64_t y = 0; y < height; y += 2) {
        std::string row;
        for (std::int64_t x = 0; x < width; ++x) {
            float value = values[y * width + x];
            if (y + 1 < height) value = (value + values[(y + 1) * width + x]) / 2;
            const float share = high > low ? (value - low) / (high - low) : 0;
            row += shades[std::clamp(static_cast<int>(share * 5), 0, 4)];
        }
        rows.push_back(row);
    }
    return rows;
}

std::string label_of(const Samples& samples, std::int64_t sample) {
    const auto at = static_cast<std::size_t>(sample);
    if (samples.facts.target == SampleTarget::Values) return readable_statistic(samples.values[at]);
    return samples.facts.classes[static_cast<std::size_t>(samples.labels[at])];
}

void print_samples(const Samples& samples, const ColumnStatistics& all, std::int64_t shown) {
    const SampleFacts& facts = samples.facts;
    const std::int64_t width = facts.width();
    for (std::int64_t sample = 0; sample < std::min(shown, facts.samples); ++sample) {
        const float* values = samples.features.data() + sample * width;
        if (facts.are_tokens) {
            std::string text;
            for (std::int64_t i = 0; i < std::min<std::int64_t>(width, 80); ++i) text += class_text(facts.classes[static_cast<std::size_t>(values[i])] == " " ? "·" : facts.classes[static_cast<std::size_t>(values[i])]);
            print("    " + text);
        } else if (facts.shape.size() == 3 && facts.shape[1] <= 64 && facts.shape[2] <= 100) {
            print("    " + label_of(samples, sample) + ":");
            for (const std::string& row : picture(values, facts.shape[1], facts.shape[2], static_cast<float>(all.smallest), static_cast<float>(all.largest))) print("    " + row);
        } else {
            std::string text;
            for (std::int64_t i = 0; i < std::min<std::int64_t>(width, 10); ++i) text += readable_statistic(values[i]) + "  ";
            print("    " + text + (width > 10 ? "…  " : "") + "→ " + label_of(samples, sample));
        }
    }
}

Json column_json(const ColumnStatistics& column) {
    return {{"name", column.name}, {"count", column.count}, {"missing", column.missing}, {"smallest", number_to_json(column.smallest)}, {"largest", number_to_json(column.largest)},
            {"mean", number_to_json(column.mean)}, {"deviation", number_to_json(column.deviation)}, {"infinite_in_fp16", column.beyond_fp16},
            {"square_infinite_in_fp16", column.squares_beyond_fp16}, {"zero_in_fp16", column.flushed}, {"square_zero_in_fp16", column.squares_flushed}};
}

}  // namespace

void print_data(const DatasetPlan& plan, const Samples& samples, const SampleStatistics& statistics, std::int64_t shown) {
    const SampleFacts& facts = samples.facts;
    const std::string each = facts.are_tokens ? count_of(facts.width(), "character") : facts.shape.size() > 1 ? shape_text(facts.shape) : count_of(facts.width(), "feature");
    print(std::filesystem::path(plan.file).filename().string() + ": " + facts.format + ", " + count_of(facts.samples, "sample") + " of " + each +
          (facts.element == "number" || facts.are_tokens ? "" : " (" + facts.element + ")"));
    print("    " + target_words(samples, statistics));
    if (facts.dropped > 0) print("    " + count_of(facts.dropped, "sample") + " left out for missing values");
    if (facts.are_bytes && plan.normalise == Normalise::Auto) print("    bytes: a run divides them by 255 (dataset.normalise auto)");
    print_classes(facts, statistics);
    if (!facts.are_tokens) print_statistics(statistics);
    if (shown > 0) print("the first samples:");
    print_samples(samples, statistics.all, shown);
}

Json data_json(const DatasetPlan& plan, const Samples& samples, const SampleStatistics& statistics) {
    const SampleFacts& facts = samples.facts;
    static constexpr const char* targets[] = {"classes", "values", "next_token"};
    Json columns = Json::array(), classes = Json::array();
    for (const ColumnStatistics& column : statistics.columns) columns.push_back(column_json(column));
    for (std::size_t i = 0; i < statistics.of_class.size(); ++i) classes.push_back({{"name", facts.classes[i]}, {"samples", statistics.of_class[i]}});
    Json json{{"file", plan.file}, {"format", facts.format}, {"element", facts.element}, {"samples", facts.samples}, {"shape", facts.shape}, {"labels", facts.target_name},
              {"target", targets[static_cast<int>(facts.target)]}, {"missing", facts.missing}, {"dropped", facts.dropped}, {"classes", classes}, {"columns", columns}, {"all", column_json(statistics.all)}};
    if (facts.target == SampleTarget::Values)
        json["values"] = {{"smallest", statistics.smallest_value}, {"largest", statistics.largest_value}, {"mean", statistics.mean_value}};
    return json;
}

}  // namespace mantissa::cli
