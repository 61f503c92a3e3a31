#include "data/dataset.h"

#include <cmath>
#include <filesystem>
#include <functional>

#include "base/numbers.h"
#include "base/paths.h"
#include "data/synthetic.h"
#include "data/tensor_hash.h"
#include "formats/csv.h"
#include "plan/catalogue.h"

namespace mantissa {
namespace {

using catalogue::DatasetEntry;

struct FileForm {
    CsvHeader header = CsvHeader::None;
    float divisor = 1;  // of every feature
    bool whole_features = false;
    double largest_feature = std::numeric_limits<float>::max();
};

struct Source {
    const char* id;
    FileForm form;
    std::function<Dataset()> formula;  // empty: read from a file
};

const std::vector<Source>& sources() {
    static const std::vector<Source> all{
        {"digits", {CsvHeader::None, 16, true, 16}, {}},
        {"breast-cancer", {CsvHeader::FreeForm, 1, false, std::numeric_limits<float>::max()}, {}},
        {"article-1", {}, [] { return random_classes("article-1", 1, 64, 8); }},
        {"article-2", {}, [] { return random_classes("article-2", 17, 32, 8); }}};
    return all;
}

Error damaged(const std::filesystem::path& file, const CsvTable& table, std::int64_t row, std::int64_t column,
              const std::string& expected) {
    return {ErrorCode::InputOutput,
            file.string() + ", line " + std::to_string(table.first_line + row) + ", column " +
                std::to_string(column + 1) + ": " + to_text(table.at(row, column)) + " isn't " + expected,
            "the file is damaged or holds other data"};
}

Result<void> check_row(const std::filesystem::path& file, const CsvTable& table, std::int64_t row,
                       const DatasetEntry& entry, const FileForm& form) {
    for (std::int64_t column = 0; column < entry.features; ++column) {
        const double value = table.at(row, column);
        const bool whole = !form.whole_features || (value == std::floor(value) && value >= 0);
        if (whole && std::abs(value) <= form.largest_feature) continue;
        return damaged(file, table, row, column,
                       form.whole_features ? "a whole number from 0 to " + to_text(form.largest_feature)
                                           : "a number that fp32 can hold");
    }
    const double label = table.at(row, entry.features);
    if (label == std::floor(label) && label >= 0 && label < static_cast<double>(entry.classes)) return {};
    return damaged(file, table, row, entry.features,
                   "a class from 0 to " + std::to_string(entry.classes - 1));
}

Result<Dataset> read_table(const std::filesystem::path& file, const DatasetEntry& entry,
                           const FileForm& form) {
    CsvOptions options;
    options.header = form.header;
    options.columns = entry.features + 1;
    Result<CsvTable> table = read_csv(file, options);
    if (!table) return table.error();
    Dataset dataset;
    dataset.name = entry.id;
    dataset.classes = entry.classes;
    dataset.features = torch::empty({table->rows, entry.features}, torch::kFloat);
    dataset.labels = torch::empty({table->rows}, torch::kLong);
    auto* features = dataset.features.mutable_data_ptr<float>();
    auto* labels = dataset.labels.mutable_data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < table->rows; ++row) {
        if (const Result<void> sound = check_row(file, *table, row, entry, form); !sound)
            return sound.error();
        for (std::int64_t column = 0; column < entry.features; ++column) {
            *features++ = static_cast<float>(table->at(row, column)) / form.divisor;
        }
        *labels++ = static_cast<std::int64_t>(table->at(row, entry.features));
    }
    return dataset;
}

// A copy that was cut at a line's end is a valid table: the catalogue knows how many samples there must be.
Result<Dataset> read_bundled(const std::filesystem::path& file, const DatasetEntry& entry,
                             const FileForm& form) {
    Result<Dataset> dataset = read_table(file, entry, form);
    if (dataset && dataset->samples() != entry.samples) {
        return Error{ErrorCode::InputOutput,
                     file.string() + " has " + std::to_string(dataset->samples()) + " samples, " + entry.id +
                         " has " + std::to_string(entry.samples),
                     "the bundled file was changed: restore it, or name yours in dataset.file"};
    }
    return dataset;
}

}  // namespace

std::vector<std::string> registered_datasets() {
    std::vector<std::string> ids;
    for (const Source& source : sources()) ids.emplace_back(source.id);
    return ids;
}

Result<Dataset> load_dataset(const DatasetPlan& plan) {
    const DatasetEntry* entry = catalogue::find_dataset(plan.name);
    for (const Source& source : sources()) {
        if (plan.name != source.id || entry == nullptr) continue;
        if (!source.formula) {
            if (!plan.file.empty()) return read_table(plan.file, *entry, source.form);
            return read_bundled(resources_folder() / "datasets" / entry->file, *entry, source.form);
        }
        if (plan.file.empty()) return source.formula();
        return Error{ErrorCode::BadPlan,
                     "dataset.file is \"" + plan.file + "\", but " + plan.name + " is made by a formula",
                     "leave dataset.file empty, or name digits or breast-cancer as its form"};
    }
    std::string known;
    for (const std::string& id : registered_datasets()) known += (known.empty() ? "" : ", ") + id;
    return Error{ErrorCode::BadPlan,
                 "dataset.name is \"" + plan.name + "\", which is no data set of the catalogue",
                 "one of " + known};
}

std::string content_hash(const Dataset& dataset) {
    return tensor_hash({{"features", dataset.features}, {"labels", dataset.labels}});
}

}  // namespace mantissa
