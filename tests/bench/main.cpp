// What the product's training loop costs over a loop written by hand, and what watching costs in it (design §5, §7, §10):
// mantissa-bench --help.
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
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "flood.h"
#include "loops.h"
#include "rank_costs.h"
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
constexpr std::array<Precision, 3> all_modes{Precision::No, Precision::Fp16, Precision::Bf16};
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

// What watching costs in one mode (design §7), in time and in memory, a line for each kind.
bool add_watch_costs(json& results, Precision mode, int pairs, const std::string& only) {
    const std::string of_mode = std::string(to_string(mode)) + " ";
    const json ratios = json::parse(child_output("--watch-ratios " + of_mode + std::to_string(pairs) + " " + only), nullptr, false);
    if (!ratios.is_object()) return false;
    bool is_measured = true;
    const auto memory_of = [&](const std::string& kind) {
        const std::string bytes = child_output("--watch-memory " + of_mode + kind);
        is_measured = is_measured && !bytes.empty();
        return std::atof(bytes.c_str());
    };
    std::map<std::string, double> without;
    bool is_within = true;
    for (const bench::WatchKind& kind : bench::watch_kinds) {
        if (!ratios.contains(kind.name)) continue;
        if (!without.contains(kind.over)) without[kind.over] = memory_of(kind.over);
        json result = ratios[kind.name];
        result["memory_bytes"] = memory_of(kind.name) - without[kind.over];
        const double ratio = result["ratio"].get<double>();
        const bool is_good = kind.limit == 0 || ratio <= kind.limit;
        is_within = is_within && is_good;
        std::printf("watch %-12s %-5s %.4f [%.4f, %.4f] of %s at %.0f us a step, %+.2f MiB resident%s\n", kind.name, to_string(mode), ratio,
                    result["interval95"][0].get<double>(), result["interval95"][1].get<double>(),
                    kind.level > 2 ? "a plain step" : "the run without", result["without_us"].get<double>(),
                    result["memory_bytes"].get<double>() / 1048576,
                    kind.limit == 0 ? "" : (", limit " + std::to_string(kind.limit).substr(0, 4) + (is_good ? "" : "  ABOVE")).c_str());
        std::fflush(stdout);
        results["watch-" + std::string(kind.name) + "/" + to_string(mode)] = result;
    }
    return is_within && is_measured;
}

int write_results(const fs::path& file, const json& results) {
    const auto written = write_file_atomically(file, json{{"machine", machine()}, {"results", results}}.dump(1) + "\n");
    return written ? 0 : fail(describe(written.error()), 6);
}

int run_watch(Precision mode, int pairs, const std::string& only, const fs::path& file) {
    json results = json::object();
    const bool is_within = add_watch_costs(results, mode, pairs, only);
    if (!file.empty()) {
        if (const int code = write_results(file, results); code != 0) return code;
    }
    return is_within ? 0 : 1;
}

int run_ranks(int pairs, const fs::path& file) {
    std::string text;
    const int code = bench::run_rank_costs(pairs, text);
    if (file.empty() || text.empty()) return code;
    const int written = write_results(file, json::parse(text));
    return written != 0 ? written : code;
}

int run_all(const fs::path& file, int pairs) {
    json results = json::object();
    bool is_within = true;
    for (const Case& one : cases) {
        for (const Precision mode : all_modes) {
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
    for (const Precision mode : all_modes) is_within = add_watch_costs(results, mode, pairs, "") && is_within;
    if (const int code = write_results(file, results); code != 0) return code;
    return is_within ? 0 : 1;
}

}  // namespace

constexpr const char* usage =
    "usage: mantissa-bench --json FILE [--pairs N]            the loop's and all watches' costs in all modes (30 pairs)\n"
    "       mantissa-bench --watch MODE [N [KIND]] [--json FILE]\n"
    "                                                         what watching costs in no, fp16 or bf16, in time and memory;\n"
    "                                                         kinds: %s\n"
    "       mantissa-bench --ranks [N] [--json FILE]          throughput of two ranks, and the cost of the Reducer at one\n"
    "       mantissa-bench --flood STEPS                      a run whose every value is NaN\n"
    "       mantissa-bench --rank-loop RANK SIZE STORE STEPS | --reducer-ratios N |\n"
    "                      --mode CASE MODE N | --watch-ratios MODE N [KIND] | --watch-memory MODE KIND\n"
    "                                                         one measurement of the above, as JSON or in bytes\n";

int main(int count, char** values) {
    std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::printf(usage, bench::watch_kind_names().c_str());
        return 0;
    }
    const auto taken = [&](const std::string& option) -> std::string {
        const auto found = std::find(arguments.begin(), arguments.end(), option);
        if (found == arguments.end() || found + 1 == arguments.end()) return "";
        const std::string value = *(found + 1);
        arguments.erase(found, found + 2);
        return value;
    };
    const fs::path file = taken("--json");
    const std::string told_pairs = taken("--pairs");
    const std::string what = arguments.empty() ? "" : arguments[0];
    const auto argument = [&](std::size_t i) { return i < arguments.size() ? arguments[i] : std::string(); };
    const auto number = [](const std::string& text, int otherwise) { return text.empty() ? otherwise : std::atoi(text.c_str()); };
    const bool is_of_ranks = what == "--ranks" || what == "--reducer-ratios";
    const bool is_of_watches = what == "--watch" || what == "--watch-ratios";
    const int pairs = number(!told_pairs.empty() ? told_pairs : is_of_watches ? argument(2) : is_of_ranks ? argument(1) : "", 30);
    if (pairs < 1) return fail("the number of pairs must be a whole number from 1 up", 2);
    if (what.empty() && !file.empty()) return run_all(file, pairs);
    if (what == "--ranks") return run_ranks(pairs, file);
    if (what == "--reducer-ratios") return bench::run_reducer_ratios(pairs);
    if (what == "--rank-loop" && arguments.size() == 5)
        return bench::run_rank_loop(number(argument(1), 0), number(argument(2), 1), argument(3), number(argument(4), 1));
    if (what == "--flood" && arguments.size() == 2) return bench::run_flood(std::max(1, number(argument(1), 0)));
    if (what == "--mode" && arguments.size() == 4) {
        const auto* const one = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == arguments[1]; });
        const auto of_case = parse_precision(arguments[2]);
        if (one != cases.end() && of_case) return run_mode(*one, *of_case, std::max(1, number(arguments[3], 1)));
    }
    const auto told_mode = parse_precision(argument(1));
    const Precision mode = told_mode.value_or(Precision::No);
    const bool has_mode = told_mode.has_value();
    const std::string name = argument(what == "--watch-memory" ? 2 : 3);
    const bench::WatchKind* kind = bench::find_watch_kind(name);
    const bool has_cost = name.empty() || (kind != nullptr && *kind->over != '\0');
    if (has_mode && what == "--watch" && has_cost) return run_watch(mode, pairs, name, file);
    if (has_mode && what == "--watch-ratios" && has_cost) return bench::run_watch_ratios(mode, pairs, name);
    if (has_mode && what == "--watch-memory" && kind != nullptr) return bench::run_watch_memory(mode, *kind);
    std::fprintf(stderr, usage, bench::watch_kind_names().c_str());
    return 2;
}
