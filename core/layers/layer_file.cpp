#include "layers/layer_file.h"

#include "base/files.h"
#include "layers/layer_json.h"
#include "plan/catalogue.h"
#include "plan/model_file.h"
#include "plan/nearest.h"

namespace mantissa::layers {
namespace {

constexpr std::uintmax_t largest_data_file = 8u << 20;  // that is read for a look before the start

Error in_file(const std::filesystem::path& file, const Error& error) {
    return {error.code, file.string() + ": " + error.message, error.hint};
}

}  // namespace

Result<LayerList> read_layer_list(const std::filesystem::path& file) {
    const auto text = read_file(file, layer_file_limit_bytes);
    if (!text) return text.error();
    auto list = parse_layer_list(*text, file.stem().string());
    if (!list) return in_file(file, list.error());
    return list;
}

Result<LayerList> read_fitted_list(const std::filesystem::path& file, const SampleForm& sample) {
    auto list = read_layer_list(file);
    if (!list) return list;
    FittedList fitted = fit(std::move(*list), sample);
    if (fitted.problem) return in_file(file, *fitted.problem);
    return std::move(fitted.list);
}

SampleForm sample_form(const std::string& name, const SampleFacts& facts) {
    const auto classes = static_cast<std::int64_t>(facts.classes.size());
    switch (facts.target) {
        case SampleTarget::Values: return {name, facts.shape, 1, SampleForm::Target::Value};
        case SampleTarget::NextToken: return {name, facts.shape, classes, SampleForm::Target::EachPiece};
        case SampleTarget::Classes: break;
    }
    return {name, facts.shape, classes, SampleForm::Target::Class};
}

Result<SampleForm> sample_form(const DatasetPlan& dataset) {
    if (!dataset.file.empty()) {
        const auto read = read_samples(dataset);
        if (!read) return read.error();
        return sample_form(std::filesystem::path(dataset.file).filename().string(), read->facts);
    }
    const auto* entry = catalogue::find_dataset(dataset.name);
    if (entry == nullptr) return Error{ErrorCode::BadPlan, "dataset.name is \"" + dataset.name + "\", which is no data set", "use one of: " + join_names(catalogue::dataset_ids())};
    SampleForm form{entry->id, {entry->features}, entry->classes, SampleForm::Target::Class};
    if (entry->file.empty()) return form;
    const auto file = catalogue_file(*entry);
    if (!file) return file.error();
    // Pictures and texts have a form; a table is as wide as the catalogue says.
    const auto kind = file_kind(*file);
    if (!kind || *kind == FileKind::Table) return form;
    DatasetPlan first;
    first.file = file->string();
    if (const auto read = read_samples(first, {.bytes_in_memory = 0, .most_samples = 1}); read && read->facts.width() == entry->features) {
        form = sample_form(entry->id, read->facts);
        form.classes = entry->classes;
    }
    return form;
}

Result<void> check_layer_list(const RunPlan& plan) {
    if (!is_layer_list(plan.model)) return {};
    const auto list = read_layer_list(plan.model.file);
    if (!list) return list.error();
    std::error_code ignored;
    // What a large file of data holds is known when a worker has loaded it.
    if (!plan.dataset.file.empty() && std::filesystem::file_size(plan.dataset.file, ignored) > largest_data_file) return {};
    const auto sample = sample_form(plan.dataset);
    if (!sample) return sample.error();
    const auto fitted = read_fitted_list(plan.model.file, *sample);
    return fitted ? Result<void>() : fitted.error();
}

}  // namespace mantissa::layers
