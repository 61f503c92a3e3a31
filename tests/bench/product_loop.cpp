#include <ctime>

#include "devices/memory_meter.h"
#include "loops.h"
#include "record/run_reader.h"
#include "run/run_parts.h"
#include "run/train_loop.h"

namespace mantissa::bench {
namespace {

// The loop asks its gate before every step, in its own thread: the place to read that thread's clock.
class StampGate : public StepGate {
  public:
    void wait_for_turn(std::int64_t, const RunControl&) override { stamps.push_back(thread_cpu_ns()); }
    void run_ended() override {}
    std::vector<std::int64_t> stamps;
};

}  // namespace

std::int64_t thread_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

Result<Timing> time_product(const RunPlan& plan, const std::filesystem::path& runs) {
    const auto folder = create_run_folder(runs, plan.name, plan.mixed_precision);
    if (!folder) return folder.error();
    StampGate gate;
    gate.stamps.reserve(static_cast<std::size_t>(plan.training.max_steps.value_or(0)) + 1);
    {
        auto recorder = RunRecorder::open(folder->path);
        if (!recorder) return recorder.error();
        const auto choice = choose_run_device(plan);
        if (!choice) return choice.error();
        MemoryMeter memory(at::kCPU);
        const auto parts = build_run(plan, *choice);
        if (!parts) return parts.error();
        RunControl control;
        RunSession session{*folder, **recorder, control, &gate};
        const auto end = TrainLoop(plan, **parts, session, memory).run();
        if (!end) return end.error();
    }
    auto reader = RunReader::open(folder->path);
    if (!reader) return reader.error();
    const auto rows = (*reader)->read_new();
    if (!rows) return rows.error();
    if (rows->steps.size() != static_cast<std::size_t>(plan.training.max_steps.value_or(0))) {
        return Error{ErrorCode::Internal, "the recording holds " + std::to_string(rows->steps.size()) + " steps", ""};
    }
    Timing timing;
    timing.first_loss = rows->steps.front().loss;
    timing.last_loss = rows->steps.back().loss;
    for (std::size_t i = 2; i < gate.stamps.size(); ++i) {
        timing.step_ns.push_back(gate.stamps[i] - gate.stamps[i - 1]);
    }
    return timing;
}

}  // namespace mantissa::bench
