#pragma once
// The lines that a person gives a launcher, so that it starts the processes of one run (scope join): right as they are pasted into a
// shell or handed to sbatch. Places are quoted; what nobody here can know (the name of another machine) stops the shell with its name.
#include <cstdint>
#include <filesystem>
#include <string>

#include "plan/rank_environment.h"

namespace mantissa {

struct JobScript {
    std::filesystem::path program = "mantissa";
    std::filesystem::path plan, runs;  // both seen by all machines
    std::string name;                  // of the run: Slurm's job
    std::int64_t machines = 1, processes = 2;  // on each machine
    std::int64_t threads = 1;                  // of each process
};

/// torchrun: a command for every machine; Slurm: a script for sbatch; Open MPI: a command for the first machine.
[[nodiscard]] std::string job_script(RankLauncher launcher, const JobScript& script);

/// For a shell: as it is when it needs no quotes.
[[nodiscard]] std::string shell_quoted(const std::string& word);

}  // namespace mantissa
