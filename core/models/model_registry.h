#pragma once
// Factories under the ids of the catalogue (plan/catalogue.h); a test compares both lists.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "layers/layer_fit.h"
#include "models/model.h"
#include "plan/run_plan.h"

namespace mantissa {

[[nodiscard]] std::vector<std::string> registered_models();

/// The model of the plan for samples of that form; weights are drawn from torch's default generator after
/// manual_seed(seed). BadPlan when the model can't take the data (the cnn wants 8×8 images).
Result<std::shared_ptr<Model>> make_model(const ModelPlan& plan, const layers::SampleForm& sample, std::uint64_t seed);
/// For samples that are rows of features.
Result<std::shared_ptr<Model>> make_model(const ModelPlan& plan, std::int64_t features, std::int64_t classes,
                                          std::uint64_t seed);

}  // namespace mantissa
