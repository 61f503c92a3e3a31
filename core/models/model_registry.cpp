#include "models/model_registry.h"

#include <functional>
#include <mutex>

#include "layers/layer_shapes.h"
#include "models/gated_model.h"
#include "models/layer_file_model.h"
#include "models/script_file_model.h"
#include "plan/model_file.h"

namespace mantissa {
namespace {

struct Shape {
    std::int64_t features, hidden, classes;
};

struct Entry {
    const char* id;
    std::int64_t only_features;  // 0: any width
    std::function<std::shared_ptr<Model>(const Shape&)> make;
};

std::shared_ptr<Model> layer_list(const char* id, std::vector<LayerSpec> specs) {
    return std::make_shared<LayerList>(id, std::move(specs));
}

// The reference cnn: 8×8 images, two convolutions, batch norm after the second.
std::shared_ptr<Model> make_cnn(const Shape& shape) {
    return layer_list("cnn", {{"image", "unflatten", {1, 8, 8}},
                              {"conv1", "conv2d", {1, 8, 3, 1}},
                              {"relu1", "relu", {}},
                              {"pool1", "max_pool2d", {2}},
                              {"conv2", "conv2d", {8, 16, 3, 1}},
                              {"norm", "batch_norm2d", {16}},
                              {"relu2", "relu", {}},
                              {"pool2", "max_pool2d", {2}},
                              {"flat", "flatten", {}},
                              {"head", "linear", {64, shape.classes}}});
}

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all{
        {"mlp", 0,
         [](const Shape& s) {
             return layer_list("mlp", {{"hidden", "linear", {s.features, s.hidden}},
                                       {"relu", "relu", {}},
                                       {"head", "linear", {s.hidden, s.classes}}});
         }},
        {"cnn", 64, make_cnn},
        {"linear", 0,
         [](const Shape& s) {
             return layer_list("linear", {{"head", "linear", {s.features, s.classes}}});
         }},
        {"squares", 0,
         [](const Shape& s) {
             return layer_list("squares", {{"hidden", "linear", {s.features, s.hidden}},
                                           {"square", "square", {}},
                                           {"head", "linear", {s.hidden, s.classes}}});
         }},
        // 16 outputs, more than there are classes: fp8 takes sizes that are multiples of 16.
        {"bright", 0,
         [](const Shape& s) {
             return layer_list("bright", {{"bright", "times", {1600}},
                                          {"hidden1", "linear", {s.features, s.hidden}},
                                          {"relu1", "relu", {}},
                                          {"hidden2", "linear", {s.hidden, s.hidden}},
                                          {"relu2", "relu", {}},
                                          {"head", "linear", {s.hidden, 16}}});
         }},
        {"gated", 0, [](const Shape& s) { return std::make_shared<GatedModel>(s.features, s.classes); }}};
    return all;
}

}  // namespace

std::vector<std::string> registered_models() {
    std::vector<std::string> ids;
    for (const Entry& entry : entries()) ids.emplace_back(entry.id);
    return ids;
}

Result<std::shared_ptr<Model>> make_model(const ModelPlan& plan, std::int64_t features, std::int64_t classes,
                                          std::uint64_t seed) {
    return make_model(plan, {"the data", {features}, classes, layers::SampleForm::Target::Class}, seed);
}

Result<std::shared_ptr<Model>> make_model(const ModelPlan& plan, const layers::SampleForm& sample, std::uint64_t seed) {
    const std::int64_t features = layers::product(sample.sizes), classes = sample.classes;
    // The generator is the process's: of two threads that build at once, neither may draw between the other's seed and its last weight.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    torch::manual_seed(seed);
    if (is_layer_list(plan)) return load_layer_list(plan.file, sample);
    if (!plan.file.empty()) return load_script_model(plan.file, plan.output);  // its weights are its own, dropout's numbers the seed's
    for (const Entry& entry : entries()) {
        if (plan.name != entry.id) continue;
        if (entry.only_features != 0 && entry.only_features != features) {
            return Error{ErrorCode::BadPlan,
                         "model.name is \"" + plan.name + "\", which takes " +
                             std::to_string(entry.only_features) +
                             " features (an 8×8 image), but the data set has " + std::to_string(features),
                         "choose the data set digits, or another model"};
        }
        return entry.make({features, plan.hidden, classes});
    }
    std::string known;
    for (const std::string& id : registered_models()) known += (known.empty() ? "" : ", ") + id;
    return Error{ErrorCode::BadPlan,
                 "model.name is \"" + plan.name + "\", which is no model of the catalogue",
                 "one of " + known};
}

}  // namespace mantissa
