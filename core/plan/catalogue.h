#pragma once
// What can be picked: models, data sets, losses, metrics, optimizers, schedulers, as ids with their fields
// and facts. The torch side registers a factory under each id (a test compares both lists). Fields' bounds
// are in plan/plan_fields.h.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::catalogue {

struct DatasetEntry {
    std::string id, title, description;
    std::int64_t samples = 0, features = 0, classes = 0;
    std::string file;  // below resources/datasets, or an absolute path; empty: made by a formula
    std::string licence, attribution;
    bool allows_validation = true;
    std::string package{};  // of Debian, that brings the file; empty: it comes with Mantissa
};

struct ModelEntry {
    std::string id, title, description;
    std::vector<std::string> fields;    // paths of the plan that it uses beside model.name
    std::vector<std::string> datasets;  // ids it can take
    std::string layers;  // in words: "linear F-H, relu, linear H-C" (F features, H hidden, C classes)
    std::vector<std::string> modules;  // paths that fp32_islands may name
};

/// A loss, metric, optimizer or scheduler.
struct ChoiceEntry {
    std::string id, title, description;
    std::vector<std::string> fields;  // paths of the plan that it uses
};

[[nodiscard]] const std::vector<ModelEntry>& models();
[[nodiscard]] const std::vector<DatasetEntry>& datasets();
[[nodiscard]] const std::vector<ChoiceEntry>& losses();
[[nodiscard]] const std::vector<ChoiceEntry>& metrics();
[[nodiscard]] const std::vector<ChoiceEntry>& optimizers();
[[nodiscard]] const std::vector<ChoiceEntry>& schedulers();

[[nodiscard]] const ModelEntry* find_model(std::string_view id);
[[nodiscard]] const DatasetEntry* find_dataset(std::string_view id);

[[nodiscard]] std::vector<std::string> model_ids();
[[nodiscard]] std::vector<std::string> dataset_ids();
[[nodiscard]] std::vector<std::string> loss_ids();
[[nodiscard]] std::vector<std::string> metric_ids();
[[nodiscard]] std::vector<std::string> optimizer_ids();
[[nodiscard]] std::vector<std::string> scheduler_ids();

/// Samples held out of `samples`: the share rounded up (digits: 360 of 1,797). The split itself is stratified
/// by class.
[[nodiscard]] std::int64_t held_out_samples(std::int64_t samples, double share);

nlohmann::json models_to_json();    // `mantissa models --json`
nlohmann::json datasets_to_json();  // `mantissa datasets --json`

}  // namespace mantissa::catalogue
