#pragma once
// What several processes bring and cost: throughput of two ranks over one process, and the Reducer's cost where there is one rank.
#include <string>

namespace mantissa::bench {

/// One rank of a group of `size` that meets in the file `store` (of one: alone, without a group): a small CNN for so many timed steps. Prints
/// nanoseconds of wall time a step.
int run_rank_loop(int rank, int size, const std::string& store, int steps);

/// CPU time of steps with a group of one process and its Reducer over that without, interleaved in this process. Prints JSON.
int run_reducer_ratios(int pairs);

/// Both: samples a second of two ranks over those of one process, interleaved processes, and the Reducer's cost. Prints a line each; the
/// same as JSON in `json_text`. 1 when the cost is above its limit.
int run_rank_costs(int pairs, std::string& json_text);

}  // namespace mantissa::bench
