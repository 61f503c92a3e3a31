#pragma once
// The one door to LibTorch: precompiled once, reused by every torch target. Files of the torch side include this and no torch header.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/torch.h>
#include <torch/version.h>
