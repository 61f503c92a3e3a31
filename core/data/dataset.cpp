#include "data/dataset.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/numbers.h"
#include "data/synthetic.h"
#include "data/tensor_hash.h"
#include "formats/csv.h"
#include "plan/catalogue.h"
#include "samples/prepare.h"

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
    enum Kind { Table, Samples, Formula };
    const char* id;
    Kind kind;
    FileForm form;                     // of a table
    std::function<Dataset()> formula;
};

const std::vector<Source>& sources() {
    static const std::vector<Source> all{
        {"digits", Source::Table, {CsvHeader::None, 16, true, 16}, {}},
        {"breast-cancer", Source::Table, {CsvHeader::FreeForm, 1, false, std::numeric_limits<float>::max()}, {}},
        {"article-1", Source::Formula, {}, [] { return random_classes("article-1", 1, 64, 8); }},
        {"article-2", Source::Formula, {}, [] { return random_classes("article-2", 17, 32, 8); }},
        {"fashion-mnist-part", Source::Samples, {}, {}},
        {"fashion-mnist", Source::Samples, {}, {}},
        {"constitution", Source::Samples, {}, {}}};
    return all;
}

Error damaged(const std::filesystem::path& file, const CsvTable& table, std::int64_t row, std::int64_t column,
              const std::string& expected) {
    return {ErrorCode::InputOutput,
            file.string() + ", line " + std::to_string(table.first_line + row) + ", column " +
                std::to_string(column + 1) + ": " + to_text(table.at(row, column)) + " isn't " + expected,
            "the bundled file is damaged: restore it"};
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

// The tensors look at the samples' own memory, which may lie on disk.
Result<Dataset> read_file(const DatasetPlan& plan) {
    Result<Samples> read = read_samples(plan);
    if (!read) return read.error();
    const auto samples = std::make_shared<Samples>(std::move(*read));
    const SampleFacts& facts = samples->facts;
    Dataset dataset;
    dataset.name = std::filesystem::path(plan.file).filename().string();
    dataset.target = facts.target;
    dataset.sample_shape = facts.shape;
    dataset.are_bytes = facts.are_bytes;
    dataset.classes = facts.target == SampleTarget::Values ? 0 : static_cast<std::int64_t>(facts.classes.size());
    const auto keep = [samples](void*) {};
    dataset.features = torch::from_blob(samples->features.data(), {facts.samples, facts.width()}, keep, torch::kFloat);
    if (facts.are_tokens) dataset.features = dataset.features.to(torch::kLong);
    if (facts.target == SampleTarget::Values)
        dataset.labels = torch::from_blob(samples->values.data(), {facts.samples}, keep, torch::kFloat);
    else
        dataset.labels = torch::from_blob(samples->labels.data(), {static_cast<std::int64_t>(samples->labels.size())}, keep, torch::kLong);
    if (facts.target == SampleTarget::NextToken) dataset.labels = dataset.labels.view({facts.samples, facts.width()});
    return dataset;
}

Result<Dataset> read_samples_file(const std::filesystem::path& file, const DatasetEntry& entry) {
    DatasetPlan plan;
    plan.file = file.string();
    Result<Dataset> dataset = read_file(plan);
    if (dataset) dataset->name = entry.id;
    return dataset;
}

// A copy that was cut at a line's end is a valid table: the catalogue knows how many samples there must be.
Result<Dataset> read_bundled(const Source& source, const DatasetEntry& entry) {
    const Result<std::filesystem::path> file = catalogue_file(entry);
    if (!file) return file.error();
    Result<Dataset> dataset = source.kind == Source::Table ? read_table(*file, entry, source.form) : read_samples_file(*file, entry);
    if (dataset && dataset->samples() != entry.samples) {
        return Error{ErrorCode::InputOutput,
                     file->string() + " has " + std::to_string(dataset->samples()) + " samples, " + entry.id + " has " + std::to_string(entry.samples),
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
    if (!plan.file.empty()) return read_file(plan);
    const DatasetEntry* entry = catalogue::find_dataset(plan.name);
    for (const Source& source : sources()) {
        if (plan.name != source.id || entry == nullptr) continue;
        return source.kind == Source::Formula ? Result<Dataset>(source.formula()) : read_bundled(source, *entry);
    }
    std::string known;
    for (const std::string& id : registered_datasets()) known += (known.empty() ? "" : ", ") + id;
    return Error{ErrorCode::BadPlan,
                 "dataset.name is \"" + plan.name + "\", which is no data set of the catalogue",
                 "one of " + known};
}

void prepare_dataset(Dataset& dataset, const DatasetPlan& plan, const torch::Tensor& training) {
    if (dataset.are_tokens()) return;
    const torch::Tensor indices = training.contiguous();
    prepare_features({dataset.features.mutable_data_ptr<float>(), dataset.samples(), dataset.width(), dataset.are_bytes, dataset.sample_shape.size() > 1},
                     {indices.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(indices.size(0))}, plan.normalise);
}

std::string content_hash(const Dataset& dataset) {
    return tensor_hash({{"features", dataset.features}, {"labels", dataset.labels}});
}

}  // namespace mantissa
