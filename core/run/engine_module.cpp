// The table of functions that libmantissa-engine.so exports. The one place where exceptions of torch become
// Errors.
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/version.h"
#include "devices/cuda_plugin.h"
#include "devices/memory_meter.h"
#include "devices/out_of_memory.h"
#include "distributed/gloo_group.h"
#include "engine/collectives.h"
#include "engine/engine_error.h"
#include "host/engine_api.h"
#include "numerics/device_counter.h"
#include "plan/plan_names.h"
#include "record/meta_keys.h"
#include "run/environment.h"
#include "run/replay.h"
#include "run/replica_parts.h"
#include "run/run_parts.h"
#include "run/train_loop.h"
#include "run/trial.h"

namespace mantissa {
namespace {

// The objects of the failed call are gone: what the allocator keeps of them goes back to the GPU, so that this process can try again.
void make_room() {
    if (const CudaApi* cuda = loaded_cuda_plugin()) (void)cuda->release_cached();
}

Error error_of(const std::exception& exception) {
    if (const auto* ours = dynamic_cast<const EngineError*>(&exception)) return ours->error();
    if (dynamic_cast<const c10::OutOfMemoryError*>(&exception) != nullptr) {
        Error explained = explain_out_of_memory(exception.what(), peak_of_gpu());
        make_room();
        return explained;
    }
    std::string text = exception.what();
    text = text.substr(0, text.find('\n'));
    return {ErrorCode::Internal, "LibTorch refused: " + text, "the log of the run has the whole text"};
}

template <typename Function>
auto guarded(const Function& function) -> decltype(function()) {
    try {
        return function();
    } catch (const std::exception& exception) {
        return error_of(exception);
    }
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void record_meta(const RunPlan& plan, RunParts& parts, RunRecorder& recorder) {
    const PrecisionChoice& choice = parts.choice.precision;
    recorder.meta(meta::mode, to_string(plan.mixed_precision));
    recorder.meta(meta::requested, to_string(choice.requested));
    recorder.meta(meta::effective, to_string(choice.effective));
    recorder.meta(meta::support, to_string(choice.support));
    recorder.meta(meta::support_reason, choice.reason);
    recorder.meta(meta::device, parts.choice.device.id);
    recorder.meta(meta::device_name, parts.choice.device.name);
    recorder.meta(meta::name, plan.name);
    recorder.meta(meta::model, plan.model.file.empty() ? plan.model.name : plan.model.file);
    recorder.meta(meta::dataset, plan.dataset.file.empty() ? plan.dataset.name : plan.dataset.file);
    recorder.meta(meta::started_ns, std::to_string(now_ns()));
    recorder.meta(meta::planned_steps, std::to_string(parts.planned_steps));
    recorder.meta(meta::batch_size, std::to_string(plan.training.batch_size));
    recorder.meta(meta::training_samples, std::to_string(parts.split.training.size(0)));
    recorder.meta(meta::validation_samples, std::to_string(parts.split.validation.size(0)));
    recorder.meta(meta::metric, plan.evaluation.metric);
    recorder.meta(meta::optimizer, plan.training.optimizer.name);
    recorder.meta(meta::on_nonfinite, to_string(accelerator_options(plan).on_nonfinite));
    recorder.meta(meta::program_version, version);
    recorder.meta(meta::torch_version, TORCH_VERSION);
    recorder.meta(meta::host_name, host_name());
    recorder.meta(meta::process_id, std::to_string(getpid()));
    if (parts.ranks) {
        recorder.meta(meta::rank, std::to_string(parts.ranks->group()->rank()));
        recorder.meta(meta::ranks, std::to_string(parts.ranks->group()->size()));
    }
}

/// Work of this process for a GPU goes by the plugin: statistics kernel, NCCL.
Result<void> use_gpu(const DeviceChoice& choice, const std::shared_ptr<Ranks>& ranks) {
    const CudaApi* const cuda = loaded_cuda_plugin();
    if (choice.device.kind != DeviceFacts::Kind::Cuda || cuda == nullptr) return {};
    count_on_device_by(cuda->count_values);
    if (!ranks) return {};
    const std::int64_t device = torch::Device(choice.device.id).index();
    return add_backend(*ranks->group(), [&](c10d::ProcessGroup& group, c10d::Store& store, const RankPlace& place) {
        return cuda->add_nccl({group, store, place.rank, place.size, device, place.timeout_ms});
    });
}

/// The group that this process has met; it trains with it, and no process trains twice.
struct Met {
    RankPlace place;
    std::shared_ptr<ProcessGroup> group;
};
std::optional<Met>& met() {
    static std::optional<Met> one;
    return one;
}

Result<std::shared_ptr<ProcessGroup>> group_at(const RankPlace& place) {
    if (met() && met()->place == place) return met()->group;
    return join_group(place);
}

Result<std::string> meet(const RankPlace& place, const std::string& text) {
    return guarded([&]() -> Result<std::string> {
        auto group = join_group(place);
        if (!group) return group.error();
        met() = Met{place, *group};
        return collectives::gather_bytes(group->get(), place.rank == 0 ? text : std::string()).front();
    });
}

Result<RunEnd> run(const RunPlan& plan, RunSession& session) {
    return guarded([&]() -> Result<RunEnd> {
        std::shared_ptr<Ranks> ranks;
        if (session.ranks != nullptr) {
            Result<std::shared_ptr<ProcessGroup>> group = group_at(*session.ranks);
            if (!group) return group.error();
            ranks = std::make_shared<Ranks>(*group);
        }
        const Result<DeviceChoice> choice = choose_run_device(plan, session.ranks);
        // The weakest device decides: what one rank can't do none does.
        if (ranks) {
            if (const auto agreed = ranks->agree(choice ? Result<void>() : choice.error()); !agreed) return agreed.error();
        }
        if (!choice) return choice.error();
        const Result<void> gpu = use_gpu(*choice, ranks);
        if (ranks) {
            if (const auto agreed = ranks->agree(gpu); !agreed) return agreed.error();
        }
        if (!gpu) return gpu.error();
        MemoryMeter memory(torch::Device(choice->device.id).type());
        Result<CheckpointInfo> checkpoint = CheckpointInfo{};
        const bool goes_on = !plan.checkpoint.resume_from.empty();
        if (goes_on) checkpoint = find_checkpoint(plan.checkpoint.resume_from);
        if (!checkpoint) return checkpoint.error();
        const Result<Replica> replica = read_replica(session.folder.path);
        if (!replica) return replica.error();
        const Result<std::unique_ptr<RunParts>> parts = ranks ? build_run(plan, *choice, ranks) : build_run(plan, *choice, *replica);
        if (!parts) return parts.error();
        TrainLoop loop(plan, **parts, session, memory);
        if (goes_on) loop.go_on_from(*checkpoint);
        if ((*parts)->is_main()) {
            const std::string environment = environment_of(plan, **parts).dump(1);
            if (const auto written = write_file_atomically(session.folder.environment(), environment); !written)
                return written.error();
        }
        record_meta(plan, **parts, session.recorder);
        return loop.run();
    });
}

Result<PrecisionChoice> choose_mode(const RunPlan& plan, Precision mode) {
    return guarded([&]() -> Result<PrecisionChoice> {
        RunPlan chosen = plan;
        chosen.mixed_precision = mode;
        const Result<DeviceChoice> choice = choose_run_device(chosen);
        if (!choice) return choice.error();
        return choice->precision;
    });
}

Result<TrialReport> trial(const RunPlan& plan, Precision mode) {
    return guarded([&] { return run_trial_of_model(plan, mode); });
}

Result<ProbeReport> probe() {
    return guarded([]() -> Result<ProbeReport> { return probe_devices(); });
}

Result<std::string> environment(const RunPlan& plan) {
    return guarded([&]() -> Result<std::string> { return environment_of(plan).dump(1); });
}

Result<ReplayAnswer> replay(const ReplayRequest& request) {
    return guarded([&]() -> Result<ReplayAnswer> {
        if (!request.ranks) return replay_run(request);
        Result<std::shared_ptr<ProcessGroup>> group = group_at(*request.ranks);
        if (!group) return group.error();
        const auto ranks = std::make_shared<Ranks>(*group);
        const Result<DeviceChoice> choice = choose_run_device(request.plan, &*request.ranks);
        if (!choice) return choice.error();
        if (const auto gpu = use_gpu(*choice, ranks); !gpu) return gpu.error();
        return replay_run(request, ranks);
    });
}

}  // namespace
}  // namespace mantissa

extern "C" __attribute__((visibility("default"))) const mantissa::EngineApi* mantissa_engine_api() {
    static const mantissa::EngineApi api{mantissa::engine_abi,  TORCH_VERSION,   mantissa::run,
                                         mantissa::choose_mode, mantissa::trial, mantissa::probe,
                                         mantissa::environment, mantissa::replay, mantissa::meet};
    return &api;
}
