// A second look at a batch sees the numbers of the step itself, also where a dropout draws; and the run's own numbers don't move by it.
#include <cstring>

#include "data/batch_source.h"
#include "data/sample_order.h"
#include "devices/memory_meter.h"
#include "record/replay_report.h"
#include "run/train_loop.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

// Bad whenever its dropout keeps a certain number: in about every second pass, which nothing but the random numbers decides.
class LuckOfTheDraw : public LayerList {
  public:
    LuckOfTheDraw() : LayerList("luck", {{"first", "linear", {64, 16}}, {"second", "linear", {16, 10}}}) {
        m_dropout = register_module("dropout", torch::nn::Dropout(0.5));
    }
    torch::Tensor forward(const torch::Tensor& input) override {
        const torch::Tensor kept = m_dropout->forward(torch::ones({16}));
        if (is_training()) m_passes.emplace_back(input.sum().item<double>(), kept.detach().clone());
        const torch::Tensor hidden = (*layers()[0])(input) * kept;
        return (*layers()[1])(hidden) / (1 - 0.5 * kept[0]);  // what is kept is doubled: 1 / 0
    }
    [[nodiscard]] const std::vector<std::pair<double, torch::Tensor>>& passes() const { return m_passes; }

  private:
    torch::nn::Dropout m_dropout{nullptr};
    std::vector<std::pair<double, torch::Tensor>> m_passes;  // sum of the batch, mask
};

class SecondLook : public Training {
  protected:
    static RunPlan plan() {
        RunPlan plan = preset("digits-mlp", Precision::No, 16);
        plan.training.batch_size = 40;
        plan.training.gradient_accumulation_steps = 2;
        plan.on_nonfinite = OnNonfinite::Skip;
        plan.evaluation.every = 0;
        return plan;
    }

    std::unique_ptr<RunParts> parts_of(const RunPlan& plan) {
        auto dataset = load_dataset(plan.dataset);
        auto split = split_dataset(*dataset, plan.dataset.validation, plan.dataset.split_seed);
        const SampleOrder order(split->training, plan.training.seed);
        torch::manual_seed(3);
        m_model = std::make_shared<LuckOfTheDraw>();
        Accelerator accelerator(accelerator_options(plan));
        auto model = accelerator.prepare(std::shared_ptr<Model>(m_model));
        Optimizer optimizer = make_optimizer(plan.training.optimizer, model.unwrap()->parameters());
        Scheduler scheduler = make_scheduler(plan.training.scheduler, optimizer, *plan.training.max_steps);
        auto prepared_scheduler = accelerator.prepare(std::move(scheduler));
        auto prepared_optimizer = accelerator.prepare(std::move(optimizer));
        auto loader = accelerator.prepare(Loader(std::make_unique<OrderedBatches>(*dataset, order, plan.training.batch_size)));
        return std::unique_ptr<RunParts>(new RunParts{*choose_run_device(plan), std::move(*dataset), std::move(*split),
                                                      *find_loss(plan.training.loss), accelerator, std::move(model),
                                                      std::move(prepared_optimizer), std::move(prepared_scheduler), std::move(loader),
                                                      *plan.training.max_steps, {}});
    }

    std::shared_ptr<LuckOfTheDraw> m_model;
};

TEST_F(SecondLook, SeesTheNumbersOfTheStepAndLeavesTheRunsOwnAlone) {
    const RunPlan plan = this->plan();
    std::vector<double> alone;
    {
        const auto parts = parts_of(plan);
        StepRunner runner(*parts, plan.training, nullptr);
        for (std::int64_t step = 0; step < *plan.training.max_steps; ++step) alone.push_back(runner.run().facts.losses.at(1));
        EXPECT_EQ(m_model->passes().size(), 32u);
    }
    const auto folder = create_run_folder(m_runs, plan.name, plan.mixed_precision);
    {
        const auto parts = parts_of(plan);
        auto recorder = RunRecorder::open(folder->path);
        MemoryMeter memory(at::kCPU);
        RunSession session{*folder, **recorder, m_control};
        ASSERT_TRUE(TrainLoop(plan, *parts, session, memory).run().ok());
    }
    auto reader = RunReader::open(folder->path);
    const auto rows = (*reader)->read_new();
    std::vector<double> watched;
    for (const MicroBatchRow& row : rows->micro_batches)
        if (row.index == 1) watched.push_back(row.loss);
    ASSERT_EQ(watched.size(), alone.size());
    std::size_t bad = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
        // A recording keeps no sign of a NaN.
        const bool are_nan = std::isnan(alone[i]) && std::isnan(watched[i]);
        EXPECT_TRUE(are_nan || std::memcmp(&alone[i], &watched[i], sizeof alone[i]) == 0) << i << ": " << alone[i] << " and " << watched[i];
        bad += std::isfinite(alone[i]) ? 0 : 1;
    }
    EXPECT_GT(bad, 2u);
    EXPECT_LT(bad, alone.size() - 2);

    // One pass of an epoch: a batch is known by its sum.
    std::map<double, std::vector<torch::Tensor>> of_batch;
    for (const auto& [sum, mask] : m_model->passes()) of_batch[sum].push_back(mask);
    EXPECT_EQ(of_batch.size(), 32u);
    std::size_t looks = 0;
    for (const auto& [sum, masks] : of_batch) {
        for (const torch::Tensor& mask : masks) EXPECT_TRUE(mask.equal(masks.front())) << sum;
        looks += masks.size() - 1;
    }
    EXPECT_GE(looks, 8u);
    for (const std::int64_t step : incident_steps(folder->path)) {
        const auto report = read_incident(incident_folder(folder->path, step));
        ASSERT_TRUE(report.ok());
        ASSERT_TRUE(report->birth.has_value()) << step;
        EXPECT_EQ(report->birth->producer.op, "div");
    }
}

}  // namespace
}  // namespace mantissa
