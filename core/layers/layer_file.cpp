#include "layers/layer_file.h"

#include "base/files.h"
#include "layers/layer_json.h"
#include "plan/catalogue.h"
#include "plan/model_file.h"

namespace mantissa::layers {
namespace {

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

SampleForm sample_form(const DatasetPlan& dataset) {
    const auto* entry = catalogue::find_dataset(dataset.name);
    return entry == nullptr ? SampleForm{dataset.name, {1}, 1} : SampleForm{dataset.name, {entry->features}, entry->classes};
}

Result<void> check_layer_list(const RunPlan& plan) {
    if (!is_layer_list(plan.model)) return {};
    // What a file of data holds is known when it is loaded.
    if (!plan.dataset.file.empty()) {
        const auto list = read_layer_list(plan.model.file);
        return list ? Result<void>() : list.error();
    }
    const auto list = read_fitted_list(plan.model.file, sample_form(plan.dataset));
    return list ? Result<void>() : list.error();
}

}  // namespace mantissa::layers
