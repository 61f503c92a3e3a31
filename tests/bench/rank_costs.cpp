#include "rank_costs.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/freed_memory.h"
#include "base/work_folder.h"
#include "distributed/gloo_group.h"
#include "engine/accelerator.h"
#include "engine/engine_error.h"
#include "loops.h"
#include "statistics.h"
#include "torch_pch.h"

namespace mantissa::bench {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double reducer_limit = 1.02;
constexpr int steps_of_a_rank = 20;    // timed ones of a process
constexpr int steps_of_a_block = 10;   // timed together: one alone is too short

// Three convolutions on 64 images of 3 × 32 × 32: some 8 · 10⁹ operations a step for 0.2 MB of gradients.
torch::nn::Sequential busy_network() {
    torch::manual_seed(1);
    const auto conv = [](std::int64_t in, std::int64_t out) { return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1)); };
    torch::nn::Sequential net;
    net->push_back(conv(3, 32));
    net->push_back(torch::nn::ReLU());
    net->push_back(conv(32, 64));
    net->push_back(torch::nn::ReLU());
    net->push_back(torch::nn::MaxPool2d(2));
    net->push_back(conv(64, 64));
    net->push_back(torch::nn::ReLU());
    net->push_back(torch::nn::AdaptiveAvgPool2d(1));
    net->push_back(torch::nn::Flatten());
    net->push_back(torch::nn::Linear(64, 10));
    return net;
}

/// Training steps alone, on images of this rank's own.
class Steps {
  public:
    explicit Steps(const std::shared_ptr<ProcessGroup>& group)
        : m_accelerator({.device = "cpu", .processes = group}),
          m_model(m_accelerator.prepare(busy_network())),
          m_optimizer(m_accelerator.prepare(adamw(m_model.parameters(), {.learning_rate = 1e-3}))) {
        const auto random = at::detail::createCPUGenerator(group ? static_cast<std::uint64_t>(group->rank()) : 0);
        m_images = torch::randn({64, 3, 32, 32}, random);
        m_labels = torch::randint(0, 10, {64}, random, at::kLong);
    }
    void run(int count) {
        for (int i = 0; i < count; ++i) step();
    }
    [[nodiscard]] double last_loss() const { return m_accelerator.last_step().loss; }

  private:
    void step() {
        m_accelerator.accumulate();
        torch::Tensor loss;
        {
            const auto amp = m_accelerator.autocast();
            loss = torch::cross_entropy_loss(m_model(m_images), m_labels);
        }
        m_accelerator.backward(loss);
        m_optimizer.step();
        m_optimizer.zero_grad();
    }

    Accelerator m_accelerator;
    decltype(std::declval<Accelerator&>().prepare(std::declval<torch::nn::Sequential>())) m_model;
    decltype(std::declval<Accelerator&>().prepare(std::declval<Optimizer>())) m_optimizer;
    torch::Tensor m_images, m_labels;
};

std::shared_ptr<ProcessGroup> group_of(int rank, int size, const std::string& store) {
    auto group = join_group({.rank = rank, .size = size, .local_rank = rank, .store_file = store});
    if (!group) throw EngineError(group.error());
    return *group;
}

/// Of this program run again with these arguments; 0 when it failed. Reading waits for its end.
class Started {
  public:
    explicit Started(const std::string& arguments) {
        const std::string command = "OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 exec '" +
                                    fs::read_symlink("/proc/self/exe").string() + "' " + arguments;
        m_pipe = ::popen(command.c_str(), "r");
    }
    ~Started() {
        if (m_pipe != nullptr) ::pclose(m_pipe);
    }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;
    double number() { return std::atof(line().c_str()); }
    std::string line() {
        std::string all;
        std::array<char, 4096> part{};
        while (m_pipe != nullptr && !all.ends_with('\n') && std::fgets(part.data(), part.size(), m_pipe) != nullptr) all += part.data();
        return all;
    }

  private:
    FILE* m_pipe = nullptr;
};

std::string loop_arguments(int rank, int size, const std::string& store) {
    return "--rank-loop " + std::to_string(rank) + " " + std::to_string(size) + " '" + store + "' " + std::to_string(steps_of_a_rank);
}

double alone_ns() { return Started(loop_arguments(0, 1, "none")).number(); }

/// Two processes that know nothing of each other: what this machine's second processor is worth.
double apart_ns() {
    Started other(loop_arguments(0, 1, "none"));
    Started main(loop_arguments(0, 1, "none"));
    const double first = main.number(), second = other.number();
    return first == 0 || second == 0 ? 0 : std::max(first, second);
}

double together_ns(const fs::path& folder, int pair) {
    const std::string store = (folder / ("store-" + std::to_string(pair))).string();
    Started other(loop_arguments(1, 2, store));
    Started main(loop_arguments(0, 2, store));
    const double first = main.number(), second = other.number();
    return first == 0 || second == 0 ? 0 : std::max(first, second);
}

json result_of(const std::vector<double>& ratios, const char* unit) {
    return {{"ratio", median(ratios)}, {"unit", unit}, {"runs", ratios.size()}, {"interval95", interval(ratios)}, {"ratios", ratios}};
}

void print(const char* name, const json& result, const std::string& more) {
    std::printf("%-16s %.3f [%.3f, %.3f]%s\n", name, result["ratio"].get<double>(), result["interval95"][0].get<double>(),
                result["interval95"][1].get<double>(), more.c_str());
    std::fflush(stdout);
}

int fail(const std::string& text) {
    std::fprintf(stderr, "mantissa-bench: %s\n", text.c_str());
    return 1;
}

}  // namespace

int run_rank_loop(int rank, int size, const std::string& store, int steps) try {
    at::set_num_threads(1);
    keep_freed_memory();
    Steps loop(size > 1 ? group_of(rank, size, store) : nullptr);
    loop.run(4);
    const std::int64_t before = monotonic_ns();
    loop.run(steps);
    std::printf("%.0f\n", static_cast<double>(monotonic_ns() - before) / steps);
    return 0;
} catch (const std::exception& error) {
    return fail(error.what());
}

int run_reducer_ratios(int pairs) try {
    at::set_num_threads(1);
    keep_freed_memory();
    const auto folder = WorkFolder::make("bench");
    if (!folder) return fail(describe(folder.error()));
    Steps without(nullptr), with(group_of(0, 1, (folder->path() / "store").string()));
    std::vector<double> ratios, without_us;
    const auto timed = [](Steps& loop) {
        const std::int64_t before = thread_cpu_ns();
        loop.run(steps_of_a_block);
        return static_cast<double>(thread_cpu_ns() - before) / steps_of_a_block;
    };
    for (int pair = -1; pair < pairs; ++pair) {  // the first one warms up
        const bool is_first = pair % 2 == 0;
        const double one = timed(is_first ? without : with), two = timed(is_first ? with : without);
        if (pair < 0) continue;
        without_us.push_back((is_first ? one : two) / 1000);
        ratios.push_back(is_first ? two / one : one / two);
    }
    if (with.last_loss() != without.last_loss()) return fail("the Reducer of one rank changed the training");
    json result = result_of(ratios, "CPU time of a step with a group of one over that without");
    result["without_us"] = median(without_us);
    result["limit"] = reducer_limit;
    std::printf("%s\n", result.dump().c_str());
    return 0;
} catch (const std::exception& error) {
    return fail(error.what());
}

int run_rank_costs(int pairs, std::string& json_text) {
    const auto folder = WorkFolder::make("bench");
    if (!folder) return fail(describe(folder.error()));
    std::vector<double> ratios, of_machine, of_apart, alone_ms;
    for (int pair = -1; pair < pairs; ++pair) {
        double alone = 0, apart = 0, together = 0;
        for (int i = 0; i < 3; ++i) {  // each is the first, the second and the last in turn
            switch ((pair + 1 + i) % 3) {
                case 0: alone = alone_ns(); break;
                case 1: apart = apart_ns(); break;
                default: together = together_ns(folder->path(), pair);
            }
        }
        if (alone == 0 || apart == 0 || together == 0) return fail("a process of the pair gave no time");
        if (pair < 0) continue;
        ratios.push_back(2 * alone / together);  // two ranks have two batches a step
        of_machine.push_back(2 * alone / apart);
        of_apart.push_back(apart / together);
        alone_ms.push_back(alone / 1e6);
    }
    json throughput = result_of(ratios, "samples a second of two ranks over those of one process");
    throughput["alone_ms"] = median(alone_ms);
    print("ranks throughput", throughput, " of one process at " + std::to_string(median(alone_ms)).substr(0, 5) + " ms a step of 64 images");
    const json machine = result_of(of_machine, "samples a second of two processes that know nothing of each other over those of one");
    print("ranks machine", machine, " of one process: two that know nothing of each other, all that this machine gives");
    const json share = result_of(of_apart, "samples a second of two ranks over those of two processes that know nothing of each other");
    print("ranks share", share, " of those two");
    Started reducer("--reducer-ratios " + std::to_string(pairs));
    const json cost = json::parse(reducer.line(), nullptr, false);
    if (!cost.is_object()) return fail("the Reducer's cost was not measured");
    const bool is_good = cost["ratio"].get<double>() <= reducer_limit;
    print("ranks reducer", cost, " of a step without it at " + std::to_string(cost["without_us"].get<double>() / 1000).substr(0, 5) +
                                     " ms, limit 1.02" + (is_good ? "" : "  ABOVE"));
    json_text = json{{"ranks-throughput", throughput}, {"ranks-machine", machine}, {"ranks-share", share}, {"ranks-reducer", cost}}.dump();
    return is_good ? 0 : 1;
}

}  // namespace mantissa::bench
