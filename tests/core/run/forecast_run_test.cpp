// The forecast from controls that are really trained, at the default settings (level 1, N = 50).
#include "judge/forecast.h"

#include <cstdio>

#include "record/output_maxima.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

class Foretelling : public Training {
  protected:
    static RunPlan control(const std::string& id, std::uint64_t seed, std::int64_t steps) {
        RunPlan plan = preset(id, Precision::No, steps);
        plan.training.seed = seed;
        plan.evaluation.every = 0;
        plan.checkpoint.at_end = false;
        EXPECT_EQ(plan.observe.level, 1);
        EXPECT_EQ(plan.observe.every_steps, 50);
        return plan;
    }
    static const OutputForecast& of(const Forecast& forecast, Precision mode) {
        for (const FormatForecast& one : forecast.formats) {
            if (one.mode == mode) return *one.output;
        }
        throw std::runtime_error("no forecast");
    }
};

// Where fp16 met its first Inf in gate.mul, in runs of the same preset and seed.
TEST_F(Foretelling, OfGatedOverflowIsOpenOrHoldsTheStepThatFp16Met) {
    for (const auto& [seed, met] : std::map<std::uint64_t, std::int64_t>{{7, 65}, {8, 149}, {9, 184}}) {
        const Trained run = train(control("gated-overflow", seed, 300));
        std::optional<std::int64_t> first_told;
        for (std::int64_t last = 10; last < met; last += 10) {
            const auto forecast = read_forecast(run.folder.path, last);
            ASSERT_TRUE(forecast.ok());
            const OutputForecast& output = of(*forecast, Precision::Fp16);
            EXPECT_TRUE(output.step || output.is_open) << "seed " << seed << ", step " << last << ": it doesn't stay";
            if (!output.step || output.sureness == Sureness::Seen) continue;
            EXPECT_LE(output.from_step, met) << "seed " << seed << ", step " << last;
            EXPECT_GE(output.to_step, met) << "seed " << seed << ", step " << last;
            if (!first_told)
                std::printf("seed %d: foretold from step %d of the control on: %s at %d (%d to %d, %s); fp16 met it in gate.mul at %d\n",
                            static_cast<int>(seed), static_cast<int>(last), output.tensor.c_str(), static_cast<int>(*output.step),
                            static_cast<int>(output.from_step), static_cast<int>(output.to_step), to_string(output.sureness), static_cast<int>(met));
            first_told = first_told.value_or(last);
        }
        if (seed != 7) {
            ASSERT_TRUE(first_told.has_value()) << seed;
            EXPECT_LE(*first_told, met - 40) << seed;
        }
    }
}

TEST_F(Foretelling, HealthyRunsAreNotSaidToLeave) {
    for (const char* id : {"digits-mlp", "digits-cnn", "article-1", "article-2"}) {
        const Trained run = train(control(id, 3, 300));
        for (const std::int64_t last : {10, 20, 30, 40, 60, 80, 100, 120, 160, 200, 250, 299}) {
            const auto forecast = read_forecast(run.folder.path, last);
            ASSERT_TRUE(forecast.ok());
            for (const Precision mode : {Precision::Fp16, Precision::Bf16, Precision::Fp8}) {
                const OutputForecast& output = of(*forecast, mode);
                EXPECT_FALSE(output.step.has_value()) << id << " " << to_string(mode) << " step " << last << ": " << output.tensor;
                EXPECT_FALSE(output.is_open && mode != Precision::Fp8) << id << " " << to_string(mode) << " step " << last << ": " << output.tensor;
            }
        }
    }
}

// What the looks between two records are: the largest magnitude of every output, as a record tells it.
TEST_F(Foretelling, LooksTellWhatRecordsWould) {
    RunPlan plan = control("digits-mlp", 3, 12);
    const Trained looked = train(plan);
    const auto maxima = OutputMaxima::from_text(looked.meta.at(meta::output_maxima));
    ASSERT_TRUE(maxima.ok());
    EXPECT_EQ(maxima->every(), 2);
    plan.observe.every_steps = 1;
    const Trained recorded = train(plan);
    EXPECT_FALSE(recorded.meta.contains(meta::output_maxima));  // there is a record of every step
    std::size_t compared = 0;
    for (const TensorStatRow& row : recorded.rows.tensor_stats) {
        if (row.role != TensorRole::Output || row.step == 0 || row.step % 2 != 0) continue;
        for (const auto& [step, largest] : maxima->of(row.tensor)) {
            if (step != row.step) continue;
            EXPECT_EQ(largest, row.largest) << row.tensor << " " << step;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 5U * 3);  // steps 2 … 10, three places
}

TEST_F(Foretelling, OnlyAControlIsLookedAt) {
    RunPlan plan = control("digits-mlp", 3, 6);
    plan.mixed_precision = Precision::Bf16;
    EXPECT_FALSE(train(plan).meta.contains(meta::output_maxima));
}

}  // namespace
}  // namespace mantissa
