#pragma once
// A small checkpoint with something of everything.
#include <cmath>
#include <limits>

#include "checkpoint/checkpoint_files.h"

namespace mantissa::testing {

inline Checkpoint small_checkpoint(std::int64_t step = 3, std::int64_t width = 4) {
    Checkpoint checkpoint;
    checkpoint.program_version = "test";
    checkpoint.time_ns = 17;
    checkpoint.step = step;
    checkpoint.applied_steps = step;
    checkpoint.mixed_precision = Precision::Fp16;
    checkpoint.loss_scale = SavedScale{4096, 5};
    checkpoint.models = {{{"weight", torch::full({width}, double(step))}}, {{"bias", torch::zeros({2})}}};
    checkpoint.optimizers = {{.facts = {{"name", std::string("sgd")}}, .tensors = {{"0.0.momentum_buffer", torch::ones({width})}}}};
    checkpoint.objects = {{.facts = {{"note", std::string("first")}}, .tensors = {}},
                          {.facts = {}, .tensors = {{"mean", torch::tensor(2.5)}}}};
    checkpoint.accelerator = {.facts = {{"micro_step", std::int64_t{1}}}, .tensors = {{"grad.0.0.0", torch::ones({width})}}};
    checkpoint.random_states = {{"cpu", torch::arange(7, torch::kByte)}};
    return checkpoint;
}

}  // namespace mantissa::testing
