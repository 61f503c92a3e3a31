#include "launch/job_script.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace mantissa {
namespace {

constexpr const char* next_line = " \\\n    ";

std::string train_words(const JobScript& script) {
    return shell_quoted(script.program.string()) + " train " + shell_quoted(script.plan.string()) + next_line + "--runs-dir " +
           shell_quoted(script.runs.string());
}

std::string torchrun_lines(const JobScript& script) {
    const std::string processes = "--nproc-per-node " + std::to_string(script.processes);
    const std::string threads = "OMP_NUM_THREADS=" + std::to_string(script.threads) + " torchrun --no-python ";
    if (script.machines == 1) return threads + "--standalone " + processes + next_line + train_words(script) + "\n";
    return "# the same on each of the " + std::to_string(script.machines) + " machines; FIRST is the name of one of them\n" + threads + "--nnodes " +
           std::to_string(script.machines) + " " + processes + next_line + "--rdzv-backend c10d --rdzv-id mantissa --rdzv-endpoint " +
           "\"${FIRST:?set FIRST to the name of the first machine}:29500\"" + next_line + train_words(script) + "\n";
}

/// A job's name is one line, without blanks.
std::string job_name(const std::string& name) {
    std::string plain = name;
    std::replace_if(plain.begin(), plain.end(), [](unsigned char c) { return c <= ' ' || c == '"' || c == '\'' || c == '\\'; }, '-');
    return plain.empty() ? "mantissa" : plain;
}

std::string slurm_lines(const JobScript& script) {
    return "#!/bin/bash\n#SBATCH --job-name=" + job_name(script.name) + "\n#SBATCH --nodes=" + std::to_string(script.machines) +
           "\n#SBATCH --ntasks-per-node=" + std::to_string(script.processes) + "\n#SBATCH --cpus-per-task=" + std::to_string(script.threads) +
           "\n#SBATCH --time=01:00:00\n#SBATCH --signal=USR1@60\n# 60 s before the time is over the run is told: it finishes its step, saves and ends\n" +
           "export OMP_NUM_THREADS=" + std::to_string(script.threads) + "\nsrun " + train_words(script) + "\n";
}

std::string mpi_lines(const JobScript& script) {
    const std::string all = std::to_string(script.machines * script.processes);
    std::string words = "mpirun -n " + all + " -x OMP_NUM_THREADS=" + std::to_string(script.threads);
    if (script.machines > 1) {
        words += std::string(" --map-by ppr:") + std::to_string(script.processes) + ":node" + next_line +
                 "--host \"${HOSTS:?set HOSTS to the machines, this one first: node1:" + std::to_string(script.processes) + ",node2:" +
                 std::to_string(script.processes) + "}\"" + next_line + "-x MASTER_ADDR=\"$(hostname)\" -x MASTER_PORT=29500";
    }
    return words + next_line + train_words(script) + "\n";
}

}  // namespace

std::string shell_quoted(const std::string& word) {
    const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("/._-+=:,@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (is_plain) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string job_script(RankLauncher launcher, const JobScript& script) {
    switch (launcher) {
        case RankLauncher::Torchrun: return torchrun_lines(script);
        case RankLauncher::Slurm: return slurm_lines(script);
        case RankLauncher::OpenMpi: return mpi_lines(script);
    }
    return {};
}

}  // namespace mantissa
