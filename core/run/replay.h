#pragma once
// Does a step of a run again (EngineApi::replay): from the seed or a kept state forward to the step, with one change or none, and some
// steps beyond. Rules of the way there are the run's own; a refusal doesn't end it. Never writes into the run's folder. A process
// has one mode, so another mode than the run's begins at a state of the step itself. When the step found weights that were bad already,
// the birth that is told is that in the update of the earlier step which made them. Thread: the caller's.
#include <memory>

#include "host/engine_api.h"
#include "run/ranks.h"

namespace mantissa {

/// Throws what the engine and LibTorch throw. With `ranks` every process of the group calls it with the same request; the answer is that of
/// all on each.
Result<ReplayAnswer> replay_run(const ReplayRequest& request, const std::shared_ptr<Ranks>& ranks = nullptr);

}  // namespace mantissa
