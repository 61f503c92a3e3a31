// A run that was stopped and went on is, bit for bit, the run that never stopped: tried at every micro-batch of short runs, and
// between backward, clip and step. Every case needs a process of its own (one precision each).
#include <gtest/gtest.h>

#include <bit>
#include <iostream>

#include "engine/accelerator.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;
namespace nn = torch::nn;

constexpr std::int64_t batch_size = 4, batches_per_epoch = 5, attempts = 12;

// Shuffled anew in every epoch.
class Shuffled : public BatchSource {
  public:
    Shuffled() {
        auto generator = at::detail::createCPUGenerator(99);
        m_features = torch::randn({batch_size * batches_per_epoch, 8}, generator);
        m_labels = torch::randint(0, 4, {batch_size * batches_per_epoch}, generator, torch::kLong);
    }
    void begin(std::int64_t epoch) override {
        auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(1000 + epoch));
        m_order = torch::randperm(m_features.size(0), generator, torch::kLong);
        m_at = 0;
    }
    std::optional<Batch> next() override {
        if (m_at == batches_per_epoch) return std::nullopt;
        const auto rows = m_order.slice(0, m_at * batch_size, (m_at + 1) * batch_size);
        ++m_at;
        return Batch{m_features.index_select(0, rows), m_labels.index_select(0, rows)};
    }

  private:
    torch::Tensor m_features, m_labels, m_order;
    std::int64_t m_at = 0;
};

struct Net : nn::Module {
    Net() {
        in = register_module("in", nn::Linear(8, 16));
        norm = register_module("norm", nn::BatchNorm1d(16));
        out = register_module("out", nn::Linear(16, 4));
    }
    torch::Tensor forward(const torch::Tensor& x) {
        return out(torch::dropout(torch::relu(norm(in(x))), 0.3, is_training()));
    }
    nn::Linear in{nullptr}, out{nullptr};
    nn::BatchNorm1d norm{nullptr};
};

// The program's own state: which micro-batch comes next.
struct Count : Stateful {
    std::int64_t micro = 0;
    [[nodiscard]] StateBundle state() const override { return {.facts = {{"micro", micro}}, .tensors = {}}; }
    void load_state(const StateBundle& bundle) override { micro = bundle.fact<std::int64_t>("micro"); }
};

struct Case {
    Precision mode;
    std::string optimizer;
    std::int64_t accumulation;
};

enum class Phase { Backward, Clip, Step };
constexpr Phase phases[] = {Phase::Backward, Phase::Clip, Phase::Step};

struct Row {
    std::vector<double> values;
    bool operator==(const Row& other) const {
        return std::equal(values.begin(), values.end(), other.values.begin(), other.values.end(), [](double a, double b) {
            return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
        });
    }
};

void PrintTo(const Row& row, std::ostream* out) {
    for (const double value : row.values) *out << value << ' ';
}

Optimizer optimizer_of(const std::string& name, std::vector<torch::Tensor> parameters) {
    if (name == "sgd") return sgd(std::move(parameters), {.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3});
    return adamw(std::move(parameters), {.learning_rate = 1e-2, .weight_decay = 0.01, .amsgrad = name == "adamw amsgrad",
                                         .implementation = name == "adamw fused" ? OptimizerImplementation::Fused
                                                                                 : OptimizerImplementation::Exact});
}

class Run {
  public:
    Run(const Case& one, std::uint64_t seed)
        : accelerator({.mixed_precision = one.mode, .device = "cpu", .gradient_accumulation_steps = one.accumulation,
                       .loss_scale = {.initial = 1024, .growth_interval = 2}}),
          net((torch::manual_seed(seed), std::make_shared<Net>())),
          raw(optimizer_of(one.optimizer, net->parameters())),
          // The arguments are evaluated here, in order: the scheduler is bound before the optimizer is moved.
          scheduler(accelerator.prepare(one_cycle_lr(raw, {.max_lr = 0.05, .total_steps = attempts}))),
          optimizer(accelerator.prepare(std::move(raw))),
          model(accelerator.prepare(std::shared_ptr<Net>(net))),
          loader(accelerator.prepare(Loader(std::make_unique<Shuffled>()))),
          count(std::make_shared<Count>()) {
        accelerator.register_for_checkpointing(count);
    }

    void do_phase(Phase phase) {
        switch (phase) {
            case Phase::Backward: return forward_and_backward();
            case Phase::Clip: row.values.push_back(accelerator.clip_grad_norm(net->parameters(), 0.7).value_or(-1)); return;
            case Phase::Step:
                optimizer.step();
                scheduler.step();
                optimizer.zero_grad();
                ++count->micro;
                finish_row();
        }
    }
    [[nodiscard]] bool is_done() const { return accelerator.last_step().step + 1 >= attempts; }

    Accelerator accelerator;
    std::shared_ptr<Net> net;
    Optimizer raw;
    PreparedScheduler scheduler;
    PreparedOptimizer optimizer;
    PreparedModel<std::shared_ptr<Net>> model;
    PreparedLoader loader;
    std::shared_ptr<Count> count;
    Row row;
    std::vector<Row> rows;

  private:
    void forward_and_backward() {
        std::optional<Batch> batch;
        while (!batch) {
            if (!m_is_in_pass) loader.start_pass();
            batch = loader.next();
            m_is_in_pass = batch.has_value();
        }
        accelerator.accumulate();
        torch::Tensor loss;
        {
            const auto amp = accelerator.autocast();
            loss = torch::cross_entropy_loss(model(batch->features), batch->labels);
        }
        // In fp16 two attempts overflow.
        const bool overflows = accelerator.mixed_precision() == Precision::Fp16 && (count->micro == 3 || count->micro == 10);
        accelerator.backward(loss, overflows ? 1e38 : 1.0);
        row.values.push_back(loss.item<double>());
    }
    void finish_row() {
        const auto scale = accelerator.loss_scale_state();
        const StepFacts& facts = accelerator.last_step();
        const auto& group = optimizer.core().groups().at(0);
        for (const double value :
             {group.learning_rate, group.momentum, scale ? scale->scale : 0, scale ? double(scale->growth_tracker) : 0,
              double(accelerator.optimizer_step_was_skipped()), double(accelerator.sync_gradients()), double(facts.step), facts.loss,
              facts.grad_norm, double(facts.skipped), double(count->micro)}) {
            row.values.push_back(value);
        }
        rows.push_back(std::exchange(row, {}));
    }
    bool m_is_in_pass = false;
};

void expect_equal_tensors(const Run& a, const Run& b, const std::string& where) {
    const auto pa = weights_of(*a.net), pb = weights_of(*b.net);
    ASSERT_EQ(pa.size(), pb.size());
    for (std::size_t i = 0; i < pa.size(); ++i) EXPECT_TRUE(torch::equal(pa[i].second, pb[i].second)) << pa[i].first << " " << where;
    const auto oa = a.optimizer.core().state(), ob = b.optimizer.core().state();
    EXPECT_EQ(oa.facts, ob.facts) << where;
    ASSERT_EQ(oa.tensors.size(), ob.tensors.size());
    for (std::size_t i = 0; i < oa.tensors.size(); ++i) {
        EXPECT_TRUE(torch::equal(oa.tensors[i].second, ob.tensors[i].second)) << oa.tensors[i].first << " " << where;
    }
}

// Returns the number of cut points.
int try_all_cuts(const Case& one) {
    const TemporaryFolder folder;
    Run whole(one, 7);
    while (!whole.is_done()) {
        for (const Phase phase : phases) whole.do_phase(phase);
    }
    // The same, saved after every phase: saving disturbs nothing.
    Run saving(one, 7);
    int cuts = 0;
    std::vector<std::size_t> values;
    while (!saving.is_done()) {
        for (const Phase phase : phases) {
            saving.do_phase(phase);
            saving.accelerator.save_state(folder.path() / std::to_string(cuts++));
        }
    }
    EXPECT_EQ(saving.rows, whole.rows);
    expect_equal_tensors(saving, whole, "after saving");
    for (int cut = 0; cut < cuts; ++cut) {
        Run resumed(one, static_cast<std::uint64_t>(500 + cut));
        resumed.accelerator.load_state(folder.path() / std::to_string(cut));
        const auto micro = static_cast<std::size_t>(cut / 3);
        for (int rest = cut % 3 + 1; rest < 3; ++rest) resumed.do_phase(phases[rest]);
        while (!resumed.is_done()) {
            for (const Phase phase : phases) resumed.do_phase(phase);
        }
        const std::string where = "cut " + std::to_string(cut);
        const std::size_t first = cut % 3 == 2 ? micro + 1 : micro;
        if (first + resumed.rows.size() != whole.rows.size()) {
            ADD_FAILURE() << where << ": " << resumed.rows.size() << " rows instead of " << whole.rows.size() - first;
            continue;
        }
        for (std::size_t i = 0; i < resumed.rows.size(); ++i) {
            // Of the micro-batch that was cut, the loss (and the norm) had been seen before.
            const auto& expected = whole.rows[first + i].values;
            const std::size_t seen = i == 0 && cut % 3 != 2 ? static_cast<std::size_t>(cut % 3 + 1) : 0;
            EXPECT_EQ(resumed.rows[i], (Row{{expected.begin() + static_cast<std::ptrdiff_t>(seen), expected.end()}}))
                << where << ", micro-batch " << first + i;
        }
        expect_equal_tensors(resumed, whole, where);
    }
    return cuts;
}

int skips_of(Precision mode) {
    Run run({mode, "sgd", 1}, 7);
    int skips = 0;
    while (!run.is_done()) {
        for (const Phase phase : phases) run.do_phase(phase);
        skips += run.accelerator.optimizer_step_was_skipped();
    }
    return skips;
}

void try_mode(Precision mode, const std::vector<std::string>& optimizers) {
    int cuts = 0;
    for (const std::string& optimizer : optimizers) {
        for (const std::int64_t accumulation : {1, 2, 3}) {
            SCOPED_TRACE(optimizer + ", accumulation " + std::to_string(accumulation));
            cuts += try_all_cuts({mode, optimizer, accumulation});
        }
    }
    std::cout << "cut points tried in mode " << to_string(mode) << ": " << cuts << "\n";
    ::testing::Test::RecordProperty("cut_points", cuts);
    EXPECT_GE(cuts, 3 * static_cast<int>(attempts) * static_cast<int>(optimizers.size()) * 3);
}

TEST(ResumeTest, EveryCutOfARunInNoIsBitIdentical) {
    try_mode(Precision::No, {"sgd", "adamw", "adamw fused"});
}
TEST(ResumeTest, EveryCutOfARunInFp16IsBitIdentical) { try_mode(Precision::Fp16, {"sgd", "adamw", "adamw fused"}); }
TEST(ResumeTest, EveryCutOfARunInBf16IsBitIdentical) { try_mode(Precision::Bf16, {"sgd", "adamw", "adamw fused"}); }
TEST(ResumeTest, TheRunInFp16SkipsWhereItShould) { EXPECT_EQ(skips_of(Precision::Fp16), 2); }

}  // namespace
}  // namespace mantissa
