#include "engine/probability_losses.h"

#include "engine/engine_error.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

torch::Tensor refused(const torch::Tensor&, const torch::Tensor&, const std::optional<torch::Tensor>&, std::int64_t) {
    refuse_probability_loss();
}

// A kernel that takes the place of another is announced on standard error; this one is meant.
class Silent : public c10::WarningHandler {
  public:
    void process(const c10::Warning&) override {}
};

}  // namespace

void refuse_probability_losses_on_cpu() {
    static const bool once = [] {
        Silent silent;
        const c10::WarningUtils::WarningHandlerGuard guard(&silent);
        static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::AutocastCPU, __FILE__, __LINE__);
        library.impl("binary_cross_entropy", refused);
        return true;
    }();
    static_cast<void>(once);
}

void refuse_probability_loss() {
    throw EngineError({ErrorCode::BadPlan,
                       "binary_cross_entropy takes probabilities, and in half precision a sigmoid is 0 or 1 long before its logit is large",
                       "give the logits to binary_cross_entropy_with_logits, which is safe under autocast"});
}

}  // namespace mantissa
