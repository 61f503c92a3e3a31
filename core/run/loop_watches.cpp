#include "run/alarm_watch.h"
#include "run/batch_norm_watch.h"
#include "run/kept_states.h"
#include "run/local_error_watch.h"
#include "run/loop_watch.h"
#include "run/tensor_watch.h"

namespace mantissa {

std::vector<std::unique_ptr<LoopWatch>> make_watches(const LoopContext& context) {
    std::vector<std::unique_ptr<LoopWatch>> watches;
    if (!context.parts.is_main()) return watches;  // one recording of the numbers is enough: weights and gradients are the same
    watches.push_back(std::make_unique<KeptStates>(context));
    // No plan may say a level below 0: only the bench, which measures what level 0 costs.
    if (context.plan.observe.level >= 0) {
        watches.push_back(std::make_unique<TensorWatch>(context));
        watches.push_back(std::make_unique<BatchNormWatch>(context));
    }
    if (!context.parts.ranks) watches.push_back(std::make_unique<LocalErrorWatch>(context));
    watches.push_back(std::make_unique<AlarmWatch>(context));  // after the tensor records, which it judges
    return watches;
}

}  // namespace mantissa
