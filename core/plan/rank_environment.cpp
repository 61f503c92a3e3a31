#include "plan/rank_environment.h"

#include <functional>
#include <vector>

#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr std::uint16_t first_made_port = 20000, made_ports = 20000;  // below the range that systems hand out by themselves

class Variables {
  public:
    Variables(const EnvironmentLookup& environment, RankLauncher launcher) : m_environment(environment), m_launcher(launcher) {}

    [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
        auto value = m_environment(name);
        return value && value->empty() ? std::nullopt : value;
    }
    /// A whole number from 0 to `largest`.
    Result<std::int64_t> number(const std::string& name, std::int64_t largest) const {
        const auto value = text(name);
        if (!value) return missing(name);
        const auto parsed = parse_int(*value);
        if (parsed && *parsed >= 0 && *parsed <= largest) return *parsed;
        return Error{ErrorCode::BadPlan,
                     name + " is \"" + value->substr(0, 60) + "\": " + to_string(m_launcher) + "'s variable must be a whole number from 0 to " +
                         std::to_string(largest),
                     "start the program by the launcher, or unset its variables"};
    }
    [[nodiscard]] Error missing(const std::string& name) const {
        return {ErrorCode::BadPlan, std::string(to_string(m_launcher)) + "'s variables are half set: " + name + " is missing",
                "set it, or unset the others to train in one process"};
    }

  private:
    const EnvironmentLookup& m_environment;
    RankLauncher m_launcher;
};

Result<void> read_place(const Variables& variables, RankPlace& place, const char* rank, const char* size, const char* local_rank) {
    constexpr std::int64_t most = 65536;
    const auto of_all = variables.number(size, most);
    if (!of_all) return of_all.error();
    const auto own = variables.number(rank, most);
    if (!own) return own.error();
    const auto local = variables.number(local_rank, most);
    if (!local) return local.error();
    if (*own >= *of_all) {
        return Error{ErrorCode::BadPlan,
                     std::string(rank) + " is " + std::to_string(*own) + ", but " + size + " is " + std::to_string(*of_all),
                     "ranks count from 0 to one less than their number"};
    }
    place.rank = *own;
    place.size = *of_all;
    place.local_rank = *local;
    return {};
}

Result<void> read_port(const Variables& variables, RankPlace& place) {
    const auto port = variables.number("MASTER_PORT", 65535);
    if (!port) return port.error();
    place.port = static_cast<std::uint16_t>(*port);
    return {};
}

// All processes of one job make the same one.
std::uint16_t made_port(const std::string& job) {
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return static_cast<std::uint16_t>(first_made_port + hash % made_ports);
}

Result<RankPlace> of_torchrun(const Variables& variables) {
    RankPlace place;
    if (auto read = read_place(variables, place, "RANK", "WORLD_SIZE", "LOCAL_RANK"); !read) return read.error();
    const auto host = variables.text("MASTER_ADDR");
    if (!host) return variables.missing("MASTER_ADDR");
    place.host = *host;
    if (auto read = read_port(variables, place); !read) return read.error();
    place.is_host_elsewhere = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    place.prefix = "mantissa/attempt_" + variables.text("TORCHELASTIC_RESTART_COUNT").value_or("0");
    return place;
}

Result<RankPlace> of_slurm(const Variables& variables) {
    RankPlace place;
    if (auto read = read_place(variables, place, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"); !read) return read.error();
    auto nodes = variables.text("SLURM_STEP_NODELIST");
    if (!nodes) nodes = variables.text("SLURM_JOB_NODELIST");
    place.host = variables.text("MASTER_ADDR").value_or(first_node(nodes.value_or("")));
    if (place.host.empty()) return variables.missing("SLURM_STEP_NODELIST (or MASTER_ADDR)");
    if (variables.text("MASTER_PORT")) {
        if (auto read = read_port(variables, place); !read) return read.error();
        return place;
    }
    const auto job = variables.text("SLURM_JOB_ID");
    if (!job) return variables.missing("SLURM_JOB_ID (or MASTER_PORT)");
    place.port = made_port(*job + "." + variables.text("SLURM_STEP_ID").value_or("0"));
    return place;
}

Result<RankPlace> of_open_mpi(const Variables& variables) {
    RankPlace place;
    if (auto read = read_place(variables, place, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"); !read)
        return read.error();
    const auto local_size = variables.number("OMPI_COMM_WORLD_LOCAL_SIZE", place.size);
    if (!local_size) return local_size.error();
    const auto host = variables.text("MASTER_ADDR");
    if (!host && *local_size < place.size) {
        return Error{ErrorCode::BadPlan, "mpirun starts processes on several machines and MASTER_ADDR is missing",
                     "tell all of them where the first one is: mpirun -x MASTER_ADDR=HOST -x MASTER_PORT=PORT …"};
    }
    place.host = host.value_or("127.0.0.1");
    if (variables.text("MASTER_PORT")) {
        if (auto read = read_port(variables, place); !read) return read.error();
        return place;
    }
    for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}) {
        if (const auto job = variables.text(name)) {
            place.port = made_port(*job);
            return place;
        }
    }
    return variables.missing("MASTER_PORT");
}

struct Known {
    RankLauncher launcher;
    std::vector<const char*> signs;  // one of them is enough to say: it was this launcher
    Result<RankPlace> (*read)(const Variables&);
};

const std::vector<Known>& known_launchers() {
    static const std::vector<Known> all{
        {RankLauncher::Torchrun, {"RANK", "WORLD_SIZE", "LOCAL_RANK"}, of_torchrun},
        {RankLauncher::Slurm, {"SLURM_STEP_NUM_TASKS"}, of_slurm},
        {RankLauncher::OpenMpi, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, of_open_mpi},
    };
    return all;
}

}  // namespace

const char* to_string(RankLauncher launcher) {
    switch (launcher) {
        case RankLauncher::Torchrun:
            return "torchrun";
        case RankLauncher::Slurm:
            return "Slurm";
        case RankLauncher::OpenMpi:
            return "Open MPI";
    }
    return "";
}

std::string LaunchedRank::told() const {
    return "rank " + std::to_string(place.rank) + " of " + std::to_string(place.size) + " by " + to_string(launcher) + ", met at " +
           place.host + ":" + std::to_string(place.port) + (overruled.empty() ? "" : " (overrules " + overruled + ")");
}

std::string first_node(const std::string& node_list) {
    const std::size_t bracket = node_list.find('['), comma = node_list.find(',');
    if (bracket == std::string::npos || comma < bracket) return node_list.substr(0, comma);
    const std::size_t close = node_list.find(']', bracket);
    if (close == std::string::npos) return "";
    const std::string inside = node_list.substr(bracket + 1, close - bracket - 1);
    const std::size_t next = node_list.find_first_of(",[", close);
    const std::string tail = node_list.substr(close + 1, next == std::string::npos ? next : next - close - 1);
    return node_list.substr(0, bracket) + inside.substr(0, inside.find_first_of("-,")) + tail;
}

Result<std::optional<LaunchedRank>> read_rank_environment(const EnvironmentLookup& environment) {
    std::optional<LaunchedRank> found;
    for (const Known& known : known_launchers()) {
        const Variables variables(environment, known.launcher);
        bool is_there = false;
        for (const char* sign : known.signs) is_there = is_there || variables.text(sign).has_value();
        if (!is_there) continue;
        if (found) {
            found->overruled += (found->overruled.empty() ? "" : ", ") + std::string(to_string(known.launcher));
            continue;
        }
        auto place = known.read(variables);
        if (!place) return place.error();
        found = LaunchedRank{known.launcher, std::move(*place), ""};
    }
    return found;
}

}  // namespace mantissa
