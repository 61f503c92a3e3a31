#pragma once
// Layer lists in files. A list is no program, so nobody is asked to trust it.
#include <filesystem>

#include "base/result.h"
#include "layers/layer_fit.h"
#include "plan/run_plan.h"
#include "samples/samples.h"

namespace mantissa::layers {

/// Errors begin with the file. InputOutput: it can't be read; BadPlan: what stands in it.
Result<LayerList> read_layer_list(const std::filesystem::path& file);

/// As a run with this data will have it. BadPlan for the first layer that doesn't fit.
Result<LayerList> read_fitted_list(const std::filesystem::path& file, const SampleForm& sample);

[[nodiscard]] SampleForm sample_form(const std::string& name, const SampleFacts& facts);
/// Of a data set of the catalogue without reading it whole; of a data file by reading it.
Result<SampleForm> sample_form(const DatasetPlan& dataset);

/// Before anything is started: nothing for a plan whose model is no layer list.
Result<void> check_layer_list(const RunPlan& plan);

}  // namespace mantissa::layers
