#pragma once
// Readers of the kinds of files. Internal to core/samples.
#include "samples/samples.h"

namespace mantissa::samples {

Result<Samples> read_table(const DatasetPlan& plan, const SampleLimits& limits);
Result<Samples> read_arrays(const DatasetPlan& plan, FileKind kind, const SampleLimits& limits);
Result<Samples> read_text(const DatasetPlan& plan, const SampleLimits& limits);

}  // namespace mantissa::samples
