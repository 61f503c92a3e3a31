#pragma once
// What one Accelerator has prepared, in the order of preparing, each object once. An object that another living Accelerator of this
// process has prepared is refused. Thread: the one that trains (the claims of the process have a lock of their own).
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/optimizer.h"
#include "engine/process_group.h"
#include "engine/scheduler.h"

namespace mantissa {

/// A model, and its buffers before the forward pass of an attempt, to go back to when the attempt is skipped (BatchNorm, D9).
struct PreparedModelState {
    std::shared_ptr<torch::nn::Module> module;
    std::vector<torch::Tensor> parameters, buffers;
    std::vector<torch::Tensor> saved;  // of the buffers
    bool is_saved = false;
    bool is_trained = true;           // false: prepared for evaluation
    torch::Device device = torch::kCPU;  // where prepare() put it, or found it
    std::unique_ptr<GradientSync> gradients;  // empty: this process trains alone
    bool buffers_are_apart = false;           // a forward pass moved each process's own since they were sent over
};

struct PreparedOptimizerState {
    enum class Stage { Ready, Unscaled, Stepped };
    std::shared_ptr<OptimizerCore> core;
    Stage stage = Stage::Ready;
    bool found_inf = false;
    bool skipped = false;
    bool holds_used_gradients = false;  // of a finished attempt, unscaled: nothing was added and zero_grad has not been called since
    double sum_of_squares = 0;
};

/// Of the prepared loaders it only matters here whether there are any, and whether their batches are moved.
struct PreparedLoaders {
    bool any = false, any_unplaced = false;
};

class PreparedObjects {
  public:
    PreparedObjects() = default;
    ~PreparedObjects() { clear(); }
    PreparedObjects(const PreparedObjects&) = delete;
    PreparedObjects& operator=(const PreparedObjects&) = delete;

    struct ModelUse {
        torch::Device device = torch::kCPU;
        bool moves = true;       // device placement
        bool is_trained = true;  // false: half weights are fine, and no statistics are kept for a skip
    };
    std::shared_ptr<PreparedModelState> add(std::shared_ptr<torch::nn::Module> module, const ModelUse& use);
    std::shared_ptr<PreparedOptimizerState> add(std::shared_ptr<OptimizerCore> optimizer);
    void add(const std::shared_ptr<SchedulerCore>& scheduler);
    /// Lets go of everything; handles that are still alive keep their objects.
    void clear();

    [[nodiscard]] const std::vector<std::shared_ptr<PreparedModelState>>& models() const { return m_models; }
    [[nodiscard]] const std::vector<std::shared_ptr<PreparedOptimizerState>>& optimizers() const { return m_optimizers; }
    [[nodiscard]] const std::vector<std::shared_ptr<SchedulerCore>>& schedulers() const { return m_schedulers; }
    /// The optimizers that a scheduler follows: the prepared one that it was made for, else all of them.
    [[nodiscard]] std::vector<std::shared_ptr<PreparedOptimizerState>> optimizers_of(const OptimizerCore* core) const;
    /// "layer.weight", or a text that says that the model is not prepared.
    [[nodiscard]] std::string name_of(const torch::Tensor& parameter) const;

    PreparedLoaders loaders;
    std::shared_ptr<ProcessGroup> processes;  // empty: this process alone

  private:
    void claim(const void* object, const char* what);

    std::vector<std::shared_ptr<PreparedModelState>> m_models;
    std::vector<std::shared_ptr<PreparedOptimizerState>> m_optimizers;
    std::vector<std::shared_ptr<SchedulerCore>> m_schedulers;
    std::unordered_map<const c10::TensorImpl*, std::string> m_parameter_names;
};

}  // namespace mantissa
