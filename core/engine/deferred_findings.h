#pragma once
// What an attempt found in its losses and gradients, counted where they lie, and brought to the host together: one wait of the host for
// all of it. Or none: the figures come some steps later, and until the host has seen them a flag on the device keeps a bad step, and every
// later one, from the weights (rule 12). Device-neutral operations; on a CPU everything is there at once.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine_error.h"
#include "engine/readback.h"
#include "engine/step_facts.h"

namespace mantissa {

struct Findings {
    bool overflow = false;  // under the loss scaler
    std::vector<double> losses;
    std::vector<double> norms;  // of each gradient; not finite exactly when an element isn't

    [[nodiscard]] double sum_of_squares() const;
    [[nodiscard]] bool is_bad() const;
};
/// One row of float64 on the device. `found_inf` may be undefined.
[[nodiscard]] torch::Tensor packed_findings(const std::vector<torch::Tensor>& losses, const std::vector<torch::Tensor>& gradients,
                                            const torch::Tensor& found_inf);
[[nodiscard]] Findings unpacked_findings(const torch::Tensor& row, std::size_t losses);

/// An attempt whose figures have come. `refusal`: what the host would have refused at once; nothing has moved since.
struct SettledStep {
    StepFacts facts;
    std::optional<NonFinite> refusal;
};

class DeferredFindings {
  public:
    /// Without `masks` a bad step is applied all the same (on_nonfinite = mark).
    explicit DeferredFindings(bool masks) : m_masks(masks) {}

    /// Of the attempt that `facts` begin to tell. The parameters are those of the gradients. Returns the mask of its update: a number on
    /// the device, 1 when this attempt or an earlier one was bad; undefined without `masks`.
    [[nodiscard]] torch::Tensor look(StepFacts facts, const std::vector<torch::Tensor>& losses, const std::vector<torch::Tensor>& gradients,
                                     std::vector<torch::Tensor> parameters);

    struct Arrived {
        StepFacts facts;
        torch::Tensor bad_parameter;  // the first; undefined: none
        bool is_first_bad = false;
    };
    /// In the order of the steps: those that are there, and as many as it takes to have at most `longest_queue` on the way; or all.
    [[nodiscard]] std::vector<Arrived> take(bool all);
    [[nodiscard]] std::size_t waiting() const { return m_waiting.size(); }

    static constexpr std::size_t longest_queue = 4;

  private:
    struct Waiting {
        StepFacts facts;
        std::size_t losses;
        std::vector<torch::Tensor> parameters;
        Readback row;
        bool is_on_device;
    };
    [[nodiscard]] Arrived arrived(const Waiting& waiting);

    bool m_masks, m_was_bad = false;
    torch::Tensor m_mask;
    std::deque<Waiting> m_waiting;
};

}  // namespace mantissa
