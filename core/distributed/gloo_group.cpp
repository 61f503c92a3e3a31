#include "distributed/gloo_group.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <utility>

// The wheel is built with both, and its headers ask for them.
#define USE_DISTRIBUTED
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "base/numbers.h"
#include "engine/engine_error.h"
#include "plan/rank_environment.h"

namespace mantissa {
namespace {

using c10d::ProcessGroupGloo;

// Sizes of the first bucket and of the others, as upstream has them: a small one first, so that sending begins early.
constexpr std::int64_t first_bucket_bytes = std::int64_t{1} << 20, bucket_bytes = std::int64_t{25} << 20;

std::string first_line(const std::exception& error) {
    const auto* known = dynamic_cast<const c10::Error*>(&error);
    std::string text = known != nullptr ? known->what_without_backtrace() : error.what();
    return text.substr(0, text.find('\n'));
}

std::string seconds(const RankPlace& place) { return to_text(static_cast<double>(place.timeout_ms) / 1000); }

std::chrono::milliseconds timeout_of(const RankPlace& place) { return std::chrono::milliseconds(place.timeout_ms); }

std::string described(const RankPlace& place) {
    return "process " + std::to_string(place.rank) + " of " + std::to_string(place.size);
}

class QuietWarnings : public c10::WarningHandler {
    void process(const c10::Warning& /*warning*/) override {}
};

class ReducedGradients : public GradientSync {
  public:
    ReducedGradients(const std::vector<torch::Tensor>& parameters, const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                     bool finds_unused)
        : m_finds_unused(finds_unused),
          m_reducer(std::make_unique<c10d::Reducer>(
              parameters, buckets(parameters, finds_unused), group, std::vector<bool>(parameters.size(), false), bucket_bytes,
              finds_unused, /*gradient_as_bucket_view=*/false, std::unordered_map<std::size_t, std::string>{}, first_bucket_bytes,
              /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false, std::vector<std::int64_t>{})) {}

    void before_backward(const torch::Tensor& root) override {
        // "Nothing was unused": a remark on speed that says nothing about the run.
        QuietWarnings quiet;
        const c10::WarningUtils::WarningHandlerGuard no_remark(&quiet);
        m_reducer->rebuild_buckets();
        m_reducer->prepare_for_backward(m_finds_unused ? std::vector<torch::Tensor>{root} : std::vector<torch::Tensor>{});
    }
    // The Reducer's last hook has waited for all buckets.
    void after_backward() override {}

  private:
    static std::vector<std::vector<std::size_t>> buckets(const std::vector<torch::Tensor>& parameters, bool finds_unused) {
        // Without unused parameters the buckets are made anew after the first backward, in the order of its gradients.
        const std::vector<std::size_t> limits = finds_unused ? std::vector<std::size_t>{first_bucket_bytes, bucket_bytes}
                                                             : std::vector<std::size_t>{std::numeric_limits<std::size_t>::max()};
        auto assigned = std::get<0>(c10d::compute_bucket_assignment_by_size(parameters, limits));
        std::reverse(assigned.begin(), assigned.end());  // gradients come from the last layer first
        return assigned;
    }

    bool m_finds_unused;
    std::unique_ptr<c10d::Reducer> m_reducer;  // its destructor may throw, a member's mayn't
};

class GlooGroup : public ProcessGroup {
  public:
    GlooGroup(RankPlace place, c10::intrusive_ptr<c10d::ProcessGroup> group)
        : m_place(std::move(place)), m_group(std::move(group)) {}

    [[nodiscard]] std::int64_t rank() const override { return m_place.rank; }
    [[nodiscard]] std::int64_t size() const override { return m_place.size; }
    [[nodiscard]] std::int64_t local_rank() const override { return m_place.local_rank; }

    [[nodiscard]] std::vector<torch::Tensor> all_gather(const torch::Tensor& tensor) override {
        return guarded("all_gather", [&] {
            std::vector<torch::Tensor> inputs{tensor.detach().contiguous()};
            std::vector<std::vector<torch::Tensor>> outputs(1);
            for (std::int64_t i = 0; i < m_place.size; ++i) outputs.front().push_back(torch::empty_like(inputs.front()));
            m_group->allgather(outputs, inputs)->wait();
            return std::move(outputs.front());
        });
    }
    void all_reduce(torch::Tensor& tensor, ReduceOperation operation) override {
        guarded("all_reduce", [&] {
            c10d::AllreduceOptions options;
            options.reduceOp = operation == ReduceOperation::Max ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
            in_place(tensor, [&](std::vector<torch::Tensor>& one) { m_group->allreduce(one, options)->wait(); });
        });
    }
    void broadcast(torch::Tensor& tensor, std::int64_t from_rank) override {
        guarded("broadcast", [&] {
            c10d::BroadcastOptions options;
            options.rootRank = from_rank;
            in_place(tensor, [&](std::vector<torch::Tensor>& one) { m_group->broadcast(one, options)->wait(); });
        });
    }
    void barrier() override {
        guarded("barrier", [&] { m_group->barrier()->wait(); });
    }
    [[nodiscard]] std::unique_ptr<GradientSync> average_gradients(const std::vector<torch::Tensor>& parameters) override {
        return guarded("average_gradients", [&]() -> std::unique_ptr<GradientSync> {
            return std::make_unique<ReducedGradients>(parameters, m_group, m_place.finds_unused_parameters);
        });
    }

    [[nodiscard]] Result<void> add(const AddBackend& add) { return add(*m_group, *m_group->getStore(), m_place); }

  private:
    // Gloo wants contiguous tensors without a graph.
    template <typename Call>
    static void in_place(torch::Tensor& tensor, const Call& call) {
        const torch::NoGradGuard no_grad;
        std::vector<torch::Tensor> one{tensor.detach().contiguous()};
        call(one);
        if (one.front().data_ptr() != tensor.data_ptr()) tensor.copy_(one.front());
    }
    template <typename Call>
    auto guarded(const char* name, const Call& call) -> decltype(call()) {
        try {
            return call();
        } catch (const std::exception& error) {
            throw EngineError({ErrorCode::WorkerLost,
                               std::string(name) + " of " + described(m_place) + " failed: another process ended, or didn't come within " +
                                   seconds(m_place) + " s (" + first_line(error) + ")",
                               "look at the first process that ended: its own words say why"});
        }
    }

    RankPlace m_place;
    c10::intrusive_ptr<c10d::ProcessGroup> m_group;
};

c10::intrusive_ptr<c10d::Store> open_store(const RankPlace& place) {
    c10::intrusive_ptr<c10d::Store> store;
    if (!place.store_file.empty()) {
        store = c10::make_intrusive<c10d::FileStore>(place.store_file, static_cast<int>(place.size));
        // Kept for good: its destructor writes, and throws where the disk is full, which aborts. Who made the file removes it.
        [[maybe_unused]] static auto* const kept = new std::vector<c10::intrusive_ptr<c10d::Store>>();
        kept->push_back(store);
    } else {
        c10d::TCPStoreOptions options;
        options.port = place.port;
        options.isServer = place.rank == 0 && !place.is_host_elsewhere;
        options.numWorkers = static_cast<std::size_t>(place.size);
        options.waitWorkers = false;
        options.timeout = timeout_of(place);
        store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
    }
    store->setTimeout(timeout_of(place));
    if (!place.prefix.empty()) store = c10::make_intrusive<c10d::PrefixStore>(place.prefix, std::move(store));
    return store;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

std::shared_ptr<::gloo::transport::Device> open_device(const RankPlace& place) {
    if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr && *interface != '\0') {
        return ProcessGroupGloo::createDeviceForInterface(interface);
    }
    // A machine's own name may lead to an address that isn't reachable; on one machine there is no need of it.
    if (!place.store_file.empty() || is_loopback(place.host)) return ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
    return ProcessGroupGloo::createDefaultDevice();
}

// Gloo writes to sockets without asking for an error in its place: a process whose other one has just died would be killed by the signal
// instead of being told. Who has a handler of his own keeps it.
void outlive_a_closed_socket() {
    struct sigaction now {};
    if (::sigaction(SIGPIPE, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Result<std::shared_ptr<ProcessGroup>> join_group(const RankPlace& place) {
    if (place.size < 1 || place.rank < 0 || place.rank >= place.size) {
        return Error{ErrorCode::BadPlan, "there is no " + described(place), "ranks count from 0 to one less than the number of processes"};
    }
    outlive_a_closed_socket();
    try {
        const auto store = open_store(place);
        const auto options = ProcessGroupGloo::Options::create(timeout_of(place));
        options->devices.push_back(open_device(place));
        const auto rank = static_cast<int>(place.rank), size = static_cast<int>(place.size);
        const auto gloo = c10::make_intrusive<ProcessGroupGloo>(store, rank, size, options);
        auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, size);
        group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
        group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
        return std::shared_ptr<ProcessGroup>(std::make_shared<GlooGroup>(place, std::move(group)));
    } catch (const std::exception& error) {
        const std::string where = place.store_file.empty() ? place.host + ":" + std::to_string(place.port) : place.store_file;
        return Error{ErrorCode::WorkerLost,
                     described(place) + " could not meet the others at " + where + " within " +
                         seconds(place) + " s (" + first_line(error) + ")",
                     place.store_file.empty() ? "see that all processes were started, that the host's name and port are the same for all "
                                                "and reachable, and that no other program has the port"
                                              : "see that all processes were started, and what those that ended have said"};
    }
}

Result<std::shared_ptr<ProcessGroup>> join_launch(std::chrono::seconds timeout) {
    auto launch = read_rank_environment(process_environment());
    if (!launch) return launch.error();
    if (!*launch || (*launch)->place.size == 1) return std::shared_ptr<ProcessGroup>();
    (*launch)->place.timeout_ms = std::chrono::milliseconds(timeout).count();
    return join_group((*launch)->place);
}

Result<void> add_backend(ProcessGroup& group, const AddBackend& add) {
    auto* const ours = dynamic_cast<GlooGroup*>(&group);
    if (ours == nullptr) return Error{ErrorCode::Internal, "this group isn't one of c10d's: it takes no second backend", ""};
    return ours->add(add);
}

}  // namespace mantissa
