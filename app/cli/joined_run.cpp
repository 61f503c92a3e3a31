#include "joined_run.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error_json.h"
#include "launch/engine_module.h"
#include "plan/plan_names.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

std::string written(const Result<PreparedJob>& job) {
    const Json json = job ? Json{{"folder", job->folder.string()}} : error_to_json(job.error());
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<PreparedJob> read(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (auto error = error_from_json(json)) {
        error->message = "rank 0: " + error->message;
        return *error;
    }
    if (!json.is_object() || !json.contains("folder")) return Error{ErrorCode::Internal, "rank 0 sent no run folder", ""};
    const std::filesystem::path folder = json["folder"].get<std::string>();
    std::error_code failed;
    if (!std::filesystem::is_directory(folder, failed)) {
        return Error{ErrorCode::InputOutput, "the run folder that rank 0 made isn't there for this process: " + folder.string(),
                     "give all processes one shared runs folder with --runs-dir"};
    }
    return read_job(folder);
}

}  // namespace

Result<std::optional<LaunchedRank>> find_launch(const SourcedPlan& plan, const EnvironmentLookup& environment) {
    // An Accelerate file on this machine says how many processes a launch of its own would have, not that this is none.
    const auto origin = plan.origins.find("launch.scope");
    const bool is_named = origin != plan.origins.end() && origin->second.source != ValueSource::Config &&
                          origin->second.source != ValueSource::Environment && origin->second.source != ValueSource::Checkpoint &&
                          origin->second.source != ValueSource::Default;
    if (is_named && plan.plan.launch.scope != LaunchScope::Join) return std::optional<LaunchedRank>();
    auto launch = read_rank_environment(environment);
    if (!launch) return launch.error();
    if (!*launch && plan.plan.launch.scope == LaunchScope::Join) {
        return Error{ErrorCode::BadPlan, "launch.scope is join, but no launcher started this process",
                     "start it by torchrun --no-python, srun or mpirun; for several processes on this machine use --num_processes N"};
    }
    // A launch of one is one process.
    if (*launch && (*launch)->place.size == 1 && !is_named) return std::optional<LaunchedRank>();
    if (*launch) (*launch)->place.timeout_ms = plan.plan.launch.group_timeout_seconds * 1000;
    return launch;
}

void take_launch(SourcedPlan& plan, const LaunchedRank& launch) {
    const std::string launcher = to_string(launch.launcher);
    plan.plan.launch.scope = LaunchScope::Join;
    plan.plan.launch.processes = launch.place.size;
    plan.origins["launch.scope"] = {ValueSource::Environment, launcher, to_string(LaunchScope::Join), {}};
    plan.origins["launch.processes"] = {ValueSource::Environment, launcher, std::to_string(launch.place.size), {}};
}

Result<PreparedJob> share_job(const LaunchedRank& launch, const std::function<Result<PreparedJob>()>& prepare) {
    const auto engine = load_engine();
    if (!engine) return engine.error();
    if ((*engine)->meet == nullptr) {
        return Error{ErrorCode::NotBuilt, "this engine module can't train with other processes", "install the one that belongs to this program"};
    }
    if (launch.place.rank > 0) {
        const auto text = (*engine)->meet(launch.place, "");
        return text ? read(*text) : Result<PreparedJob>(text.error());
    }
    Result<PreparedJob> job = prepare();
    const auto met = (*engine)->meet(launch.place, written(job));
    if (!job || met) return job;
    // Nobody trains in it: the folder goes, with the sentence on the terminal.
    std::error_code ignored;
    std::filesystem::remove_all(job->folder, ignored);
    return met.error();
}

}  // namespace mantissa::cli
