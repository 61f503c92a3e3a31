// A run whose every value is NaN: 200 parameters in 100 layers, applied step after step (on_nonfinite = mark). What the recording of it
// costs in time and on the disk.
#include "flood.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "data/batch_source.h"
#include "data/sample_order.h"
#include "devices/memory_meter.h"
#include "loops.h"
#include "record/meta_keys.h"
#include "record/run_reader.h"
#include "run/run_parts.h"
#include "run/train_loop.h"

namespace mantissa::bench {
namespace {

namespace fs = std::filesystem;

constexpr int layers = 100;

std::shared_ptr<Model> model_of_nan() {
    std::vector<LayerSpec> specs{{"first", "linear", {64, 10}}};
    for (int i = 1; i < layers; ++i) specs.push_back({"layer" + std::to_string(i), "linear", {10, 10}});
    auto model = std::make_shared<LayerList>("flood", specs);
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& parameter : model->parameters()) torch::Tensor(parameter).fill_(std::numeric_limits<float>::quiet_NaN());
    return model;
}

RunPlan plan_of(std::int64_t steps, std::int64_t level) {
    RunPlan plan;
    plan.name = "flood";
    plan.device = "cpu";
    plan.training.batch_size = 4;
    plan.training.max_steps = steps;
    plan.training.optimizer.name = "sgd";
    plan.on_nonfinite = OnNonfinite::Mark;
    plan.evaluation.every = 0;
    plan.checkpoint.at_end = false;
    plan.observe.level = level;
    plan.observe.keep_states = false;
    plan.observe.alarms = {"off"};
    return plan;
}

Result<std::unique_ptr<RunParts>> parts_of(const RunPlan& plan) {
    auto choice = choose_run_device(plan);
    if (!choice) return choice.error();
    auto dataset = load_dataset(plan.dataset);
    if (!dataset) return dataset.error();
    auto split = split_dataset(*dataset, plan.dataset.validation, plan.dataset.split_seed);
    auto loss = find_loss(plan.training.loss);
    if (!split || !loss) return split ? loss.error() : split.error();
    const SampleOrder order(split->training, plan.training.seed);
    AcceleratorOptions options = accelerator_options(plan);
    options.device = choice->device.id;
    Accelerator accelerator(options);
    auto model = accelerator.prepare(model_of_nan());
    Optimizer optimizer = make_optimizer(plan.training.optimizer, model.unwrap()->parameters());
    Scheduler scheduler = make_scheduler(plan.training.scheduler, optimizer, *plan.training.max_steps);
    auto prepared_scheduler = accelerator.prepare(std::move(scheduler));
    auto prepared_optimizer = accelerator.prepare(std::move(optimizer));
    auto loader = accelerator.prepare(Loader(std::make_unique<OrderedBatches>(*dataset, order, plan.training.batch_size)));
    return std::unique_ptr<RunParts>(new RunParts{*choice, std::move(*dataset), std::move(*split), *loss, accelerator, std::move(model),
                                                  std::move(prepared_optimizer), std::move(prepared_scheduler), std::move(loader),
                                                  *plan.training.max_steps, {}});
}

struct Flood {
    double step_us = 0;  // CPU time of the training thread
    std::uintmax_t bytes = 0;
    double watch_share = 0;
};

Result<Flood> flood(const fs::path& runs, std::int64_t steps, std::int64_t level) {
    const RunPlan plan = plan_of(steps, level);
    const auto folder = create_run_folder(runs, plan.name, plan.mixed_precision);
    if (!folder) return folder.error();
    Flood result;
    {
        auto recorder = RunRecorder::open(folder->path);
        if (!recorder) return recorder.error();
        MemoryMeter memory(at::kCPU);
        const auto parts = parts_of(plan);
        if (!parts) return parts.error();
        RunControl control;
        RunSession session{*folder, **recorder, control};
        const std::int64_t before = thread_cpu_ns();
        const auto end = TrainLoop(plan, **parts, session, memory).run();
        if (!end) return end.error();
        result.step_us = static_cast<double>(thread_cpu_ns() - before) / 1000 / static_cast<double>(steps);
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder->path))
        if (entry.is_regular_file() && entry.path().filename() != "reserve") result.bytes += entry.file_size();
    auto reader = RunReader::open(folder->path);
    if (!reader) return reader.error();
    const auto meta = (*reader)->meta();
    if (meta && meta->contains(meta::watch_ns))
        result.watch_share = std::stod(meta->at(meta::watch_ns)) / 1000 / static_cast<double>(steps) / result.step_us;
    return result;
}

}  // namespace

int run_flood(std::int64_t steps) {
    at::set_num_threads(1);
    std::string pattern = (fs::temp_directory_path() / "mantissa-flood-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return 6;
    int code = 0;
    double without_us = 0;
    for (const std::int64_t level : {-1, 1, 2}) {
        const std::int64_t count = level == 1 ? steps : std::max<std::int64_t>(steps / 10, 1);
        const auto result = flood(pattern, count, level);
        if (!result) {
            std::fprintf(stderr, "mantissa-bench: %s\n", describe(result.error()).c_str());
            code = 1;
            break;
        }
        if (level < 0) without_us = result->step_us;
        std::printf("level %2lld: %lld steps, %.0f us of CPU a step (%.3f of the run without), watching %.2f %%, %.1f MiB on the disk\n",
                    static_cast<long long>(level), static_cast<long long>(count), result->step_us, result->step_us / without_us,
                    100 * result->watch_share, static_cast<double>(result->bytes) / 1048576);
        std::fflush(stdout);
    }
    std::error_code ignored;
    fs::remove_all(pattern, ignored);
    return code;
}

}  // namespace mantissa::bench
