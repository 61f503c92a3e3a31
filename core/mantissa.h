#pragma once
// The library in one header: Accelerator, optimizers, schedulers, loaders, islands, devices. Everything is in namespace mantissa.
#include "base/version.h"
#include "devices/probe.h"
#include "engine/accelerator.h"
#include "engine/classic_optimizers.h"
#include "engine/module_scope.h"
