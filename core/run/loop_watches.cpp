#include "run/batch_norm_watch.h"
#include "run/loop_watch.h"
#include "run/tensor_watch.h"

namespace mantissa {

std::vector<std::unique_ptr<LoopWatch>> make_watches(const LoopContext& context) {
    std::vector<std::unique_ptr<LoopWatch>> watches;
    // No plan may say a level below 0: only the bench, which measures what level 0 costs.
    if (context.plan.observe.level >= 0) {
        watches.push_back(std::make_unique<TensorWatch>(context));
        watches.push_back(std::make_unique<BatchNormWatch>(context));
    }
    return watches;
}

}  // namespace mantissa
