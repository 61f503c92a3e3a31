#pragma once
// `mantissa launch` for several processes of a program: each finds its place in torchrun's variables, and they live and die together.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch_flags.h"
#include "plan/accelerate_launch.h"

namespace mantissa::cli {

struct ProgramRanks {
    std::int64_t processes = 1;                 // on all machines
    std::int64_t machines = 1, machine_rank = 0;
    std::string host = "127.0.0.1";             // of process 0
    std::int64_t port = 0;
    bool takes_gpus = false;  // each process its own, by its number on the machine
    [[nodiscard]] std::int64_t here() const { return processes / machines; }
};

/// From the flags, else from Accelerate's file. Errors: BadPlan names the flag or key.
Result<ProgramRanks> program_ranks(const LaunchFlags& flags, const AcceleratePlaces& file, std::int64_t processes);

/// On the machine of process 0: the port is free, or becomes a free one where none was named.
Result<void> settle_port(ProgramRanks& ranks);

/// Starts them with this process's environment and waits for the end of all. When one ends badly it is named, the others are asked to end
/// and killed after 5 s. The exit code of the first that ended badly, 128 + signal where one ended it; 0 when all ended well.
int run_ranks(const std::vector<std::string>& command, const ProgramRanks& ranks, bool quiet);

}  // namespace mantissa::cli
