#pragma once
// The library in one header. Everything is in namespace mantissa.
#include "base/version.h"
#include "devices/probe.h"
#include "engine/accelerator.h"
#include "engine/batch_sampler.h"
#include "engine/classic_optimizers.h"
#include "engine/data_loader.h"
#include "engine/executable_batch_size.h"
#include "engine/module_scope.h"
#include "engine/parameter_groups.h"
#include "engine/safe_ops.h"
#include "engine/sampler.h"
#include "track/tracker.h"
