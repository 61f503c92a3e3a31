#pragma once
// The other optimizers of torch.optim that a trace may name, in the operations of Python's single-tensor path (2.11), so that the
// bits are the same. Not in the catalogue of plans; a program of one's own may use them.
#include "engine/optimizer.h"

namespace mantissa {

struct ClassicOptions {
    double learning_rate = 1e-2;
    double weight_decay = 0;
    bool decoupled_weight_decay = false;  // NAdam, RAdam
    bool maximize = false;
    double eps = 1e-8;
    double beta1 = 0.9, beta2 = 0.999;    // Adamax, NAdam, RAdam
    double momentum = 0;                  // RMSprop
    double smoothing = 0.99;              // RMSprop's alpha, Adadelta's rho
    bool centered = false;                // RMSprop
    double momentum_decay = 4e-3;         // NAdam
    double learning_rate_decay = 0, initial_accumulator = 0;  // Adagrad
};

using ClassicGroup = GroupWith<ClassicOptions>;

[[nodiscard]] Optimizer rmsprop(std::vector<torch::Tensor> parameters, const ClassicOptions& options);
[[nodiscard]] Optimizer adagrad(std::vector<torch::Tensor> parameters, const ClassicOptions& options);
[[nodiscard]] Optimizer adadelta(std::vector<torch::Tensor> parameters, const ClassicOptions& options);
[[nodiscard]] Optimizer adamax(std::vector<torch::Tensor> parameters, const ClassicOptions& options);
[[nodiscard]] Optimizer nadam(std::vector<torch::Tensor> parameters, const ClassicOptions& options);
[[nodiscard]] Optimizer radam(std::vector<torch::Tensor> parameters, const ClassicOptions& options);

// Groups with options of their own.
[[nodiscard]] Optimizer rmsprop(std::vector<ClassicGroup> groups);
[[nodiscard]] Optimizer adagrad(std::vector<ClassicGroup> groups);
[[nodiscard]] Optimizer adadelta(std::vector<ClassicGroup> groups);
[[nodiscard]] Optimizer adamax(std::vector<ClassicGroup> groups);
[[nodiscard]] Optimizer nadam(std::vector<ClassicGroup> groups);
[[nodiscard]] Optimizer radam(std::vector<ClassicGroup> groups);

}  // namespace mantissa
