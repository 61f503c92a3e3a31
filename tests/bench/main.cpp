// mantissa-bench --json FILE: what the product's training loop costs over a loop written by hand, and what watching costs in it
// (design §5, §7, §10).
//
// Medians of 30 interleaved pairs of the training thread's CPU time per step, one thread, OMP_WAIT_POLICY=PASSIVE on both
// sides, each mode in a process of its own. Exit code 1 when a ratio is above its limit.
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "flood.h"
#include "loops.h"
#include "statistics.h"
#include "torch_pch.h"
#include "watch_costs.h"

namespace {

using namespace mantissa;
using bench::interval;
using bench::median;
using nlohmann::json;
namespace fs = std::filesystem;

struct Case {
    const char* name;
    const char* model;
    std::int64_t steps;
    double limit;
};
constexpr std::array<Case, 2> cases{{{"digits-cnn", "cnn", 60, 1.05}, {"digits-mlp", "mlp", 150, 1.10}}};

int fail(const std::string& text, int code) {
    std::fprintf(stderr, "mantissa-bench: %s\n", text.c_str());
    return code;
}

double median_us(const bench::Timing& timing) {
    return median(std::vector<double>(timing.step_ns.begin(), timing.step_ns.end())) / 1000;
}

RunPlan plan_of(const Case& one, Precision mode) {
    RunPlan plan;
    plan.name = one.name;
    plan.model.name = one.model;
    plan.mixed_precision = mode;
    plan.device = "cpu";
    plan.training.max_steps = one.steps;
    plan.training.scheduler.name = "constant";
    plan.evaluation.every = 0;
    return plan;
}

// One mode of one case: pairs in turn, the order within a pair alternating.
int run_mode(const Case& one, Precision mode, int pairs) {
    at::set_num_threads(1);
    const RunPlan plan = plan_of(one, mode);
    std::string pattern = (fs::temp_directory_path() / "mantissa-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return fail("no temporary folder", 6);
    const fs::path runs = pattern;
    std::vector<double> ratios, product_us, bare_us;
    std::string wrong;
    for (int pair = -1; pair < pairs && wrong.empty(); ++pair) {  // the first pair warms up
        auto first = pair % 2 == 0 ? bench::time_product(plan, runs) : bench::time_bare(plan);
        auto second = pair % 2 == 0 ? bench::time_bare(plan) : bench::time_product(plan, runs);
        if (!first || !second) {
            wrong = describe(first ? second.error() : first.error());
            break;
        }
        const bench::Timing& product = pair % 2 == 0 ? *first : *second;
        const bench::Timing& bare = pair % 2 == 0 ? *second : *first;
        if (product.first_loss != bare.first_loss || std::abs(product.last_loss - bare.last_loss) > 0.02) {
            wrong = "the two loops don't do the same: losses " + std::to_string(product.first_loss) + " … " +
                    std::to_string(product.last_loss) + " and " + std::to_string(bare.first_loss) + " … " +
                    std::to_string(bare.last_loss);
        }
        if (pair >= 0) {
            product_us.push_back(median_us(product));
            bare_us.push_back(median_us(bare));
            ratios.push_back(product_us.back() / bare_us.back());
        }
    }
    std::error_code ignored;
    fs::remove_all(runs, ignored);
    if (!wrong.empty()) return fail(wrong, 1);
    const json result = {{"ratio", median(ratios)}, {"unit", "CPU time of a step over the bare loop's"}, {"runs", ratios.size()},
                         {"interval95", interval(ratios)}, {"limit", one.limit}, {"product_us", median(product_us)},
                         {"bare_us", median(bare_us)}, {"ratios", ratios}};
    std::printf("%s\n", result.dump().c_str());
    return 0;
}

// The standard output of this program run again with these arguments; empty when it failed.
std::string child_output(const std::string& arguments) {
    const std::string command = "OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 '" +
                                fs::read_symlink("/proc/self/exe").string() + "' " + arguments;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return "";
    std::string output;
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) output += buffer.data();
    return pclose(pipe) == 0 ? output : "";
}

json machine() {
    utsname system{};
    uname(&system);
    std::string cpu = "unknown";
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) {
            cpu = line.substr(line.find(':') + 2);
            break;
        }
    }
    return {{"cpu", cpu}, {"cores", sysconf(_SC_NPROCESSORS_ONLN)}, {"system", std::string(system.sysname) + " " + system.release},
            {"torch", TORCH_VERSION}, {"cpu_capability", at::get_cpu_capability()}, {"threads", 1}, {"wait_policy", "passive"}};
}

// What watching costs (design §7): each kind over the same run without any.
bool add_watch_costs(json& results, int pairs) {
    bool is_within = true;
    for (const Precision mode : {Precision::No, Precision::Fp16}) {
        const double without =
            std::atof(child_output(std::string("--watch-memory ") + to_string(mode) + " " + bench::watch_kinds.front().name).c_str());
        const json ratios = json::parse(child_output(std::string("--watch ") + to_string(mode) + " " + std::to_string(pairs)), nullptr, false);
        for (const bench::WatchKind& kind : bench::watch_kinds) {
            if (!ratios.contains(kind.name)) continue;
            json result = ratios[kind.name];
            const std::string memory = child_output(std::string("--watch-memory ") + to_string(mode) + " " + kind.name);
            result["memory_bytes"] = std::atof(memory.c_str()) - without;
            const double ratio = result["ratio"].get<double>();
            const bool is_good = kind.limit == 0 || ratio <= kind.limit;
            is_within = is_within && is_good;
            std::printf("watch %-12s %-5s %.4f [%.4f, %.4f] of the run without, %+.2f MiB resident%s\n", kind.name, to_string(mode), ratio,
                        result["interval95"][0].get<double>(), result["interval95"][1].get<double>(),
                        result["memory_bytes"].get<double>() / 1048576, is_good ? "" : "  ABOVE");
            std::fflush(stdout);
            results["watch-" + std::string(kind.name) + "/" + to_string(mode)] = result;
        }
        is_within = is_within && ratios.is_object();
    }
    return is_within;
}

int run_all(const fs::path& file, int pairs) {
    json results = json::object();
    bool is_within = true;
    for (const Case& one : cases) {
        for (const Precision mode : {Precision::No, Precision::Fp16, Precision::Bf16}) {
            const json result = json::parse(
                child_output(std::string("--mode ") + one.name + " " + to_string(mode) + " " + std::to_string(pairs)), nullptr, false);
            if (!result.is_object()) return fail(std::string(one.name) + " in " + to_string(mode) + " gave no result", 1);
            const double ratio = result["ratio"].get<double>();
            is_within = is_within && ratio <= one.limit;
            std::printf("%-12s %-5s %.3f [%.3f, %.3f] of the bare loop's %.0f us, limit %.2f%s\n", one.name, to_string(mode), ratio,
                        result["interval95"][0].get<double>(), result["interval95"][1].get<double>(),
                        result["bare_us"].get<double>(), one.limit, ratio <= one.limit ? "" : "  ABOVE");
            std::fflush(stdout);
            results[std::string(one.name) + "/" + to_string(mode)] = result;
        }
    }
    is_within = add_watch_costs(results, pairs) && is_within;
    const auto written = write_file_atomically(file, json{{"machine", machine()}, {"results", results}}.dump(1) + "\n");
    if (!written) return fail(describe(written.error()), 6);
    return is_within ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() == 4 && arguments[0] == "--mode") {
        const auto* const one = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == arguments[1]; });
        const auto mode = parse_precision(arguments[2]);
        if (one != cases.end() && mode) return run_mode(*one, *mode, std::max(1, std::atoi(arguments[3].c_str())));
    }
    if (arguments.size() == 3 && arguments[0].starts_with("--watch")) {
        const auto mode = parse_precision(arguments[1]);
        if (mode && arguments[0] == "--watch") return bench::run_watch_costs(*mode, std::max(1, std::atoi(arguments[2].c_str())));
        if (mode && arguments[0] == "--watch-memory") return bench::run_watch_memory(*mode, arguments[2]);
    }
    if (arguments.size() == 2 && arguments[0] == "--flood") return bench::run_flood(std::max(1, std::atoi(arguments[1].c_str())));
    const bool has_pairs = arguments.size() == 4 && arguments[2] == "--pairs";
    if ((arguments.size() != 2 && !has_pairs) || arguments[0] != "--json") {
        return fail("usage: mantissa-bench --json FILE [--pairs N], or --flood STEPS (a run of NaN)", 2);
    }
    const int pairs = has_pairs ? std::atoi(arguments[3].c_str()) : 30;
    if (pairs < 1) return fail("--pairs is '" + arguments[3] + "'; use a whole number from 1 up", 2);
    return run_all(arguments[1], pairs);
}
