// Both sides of every alarm's default threshold, and its debounce, one rule like the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/numbers.h"
#include "judge/alarms.h"

namespace mantissa {
namespace {

constexpr double floor_scale = 0x1p-14, scale = 1024;

TensorStatRow tensor(std::int64_t step, TensorRole role, const std::string& name) {
    TensorStatRow row;
    row.step = step;
    row.role = role;
    row.tensor = name;
    row.dtype = "float32";
    row.elements = 1000;
    row.rms = 1;
    row.largest = 1;
    return row;
}

/// fp16 gradients of which this share was flushed: half as many as lie in the last octave that fp16 keeps.
TensorStatRow flushed(std::int64_t step, double share) {
    TensorStatRow row = tensor(step, TensorRole::Gradient, "head.weight");
    const auto bin_of = [](double value) { return static_cast<std::uint16_t>(histogram_place(value).index); };
    constexpr std::uint64_t of_last_octave = 2000;
    const auto all = static_cast<std::uint64_t>(std::ceil(of_last_octave / 2 / share - of_last_octave / 2));
    ExponentHistogram histogram;
    histogram.bins = {{bin_of(0x1p-24 / scale), of_last_octave, 0}, {bin_of(0x1p-10 / scale), all - of_last_octave, 0}};
    row.exponents = histogram.to_blob();
    row.elements = static_cast<std::int64_t>(all);
    return row;
}

/// An fp16 run, and looks at which the rule's own figure has a given value.
class Looks {
  public:
    Looks(AlarmKind kind, const std::string& settings)
        : m_kind(kind), m_judge(*parse_alarms(entries(kind, settings)), {Precision::Fp16, 65536, floor_scale}) {}

    std::vector<AlarmRow> at(double value) {
        const std::int64_t step = m_step++;
        if (m_kind == AlarmKind::SkipStreak) return streak_of(static_cast<int>(value));
        if (m_kind == AlarmKind::ScaleFloor) return m_judge.look_at_step({step, false, scale, floor_scale * std::exp2(value)});
        EXPECT_TRUE(m_judge.look_at_step({step, false, scale, scale}).empty());
        return m_judge.look_at_tensors(records(step, value));
    }

  private:
    static std::vector<std::string> entries(AlarmKind kind, const std::string& settings) {
        std::vector<std::string> all;
        for (const AlarmKind one : all_alarm_kinds) all.push_back(std::string(to_string(one)) + (one == kind ? settings : " off"));
        return all;
    }

    /// So many skips in a row end at this look; goes on with a row that is there.
    std::vector<AlarmRow> streak_of(int skips) {
        std::vector<AlarmRow> rows;
        if (skips < m_skips) m_skips = 0;
        if (m_skips == 0) {
            EXPECT_TRUE(m_judge.look_at_step({m_step++, false, scale, scale}).empty());
        }
        while (m_skips < skips) {
            EXPECT_TRUE(rows.empty()) << "before the look that was asked for";
            ++m_skips;
            rows = m_judge.look_at_step({m_step++, true, scale, scale});
        }
        return rows;
    }

    [[nodiscard]] std::vector<TensorStatRow> records(std::int64_t step, double value) const {
        TensorStatRow row;
        switch (m_kind) {
            case AlarmKind::Headroom:
                row = tensor(step, TensorRole::Output, "gate.mul");
                row.dtype = "float16";
                row.largest = 65504 * std::exp2(-value);
                return {row};
            case AlarmKind::FlushShare: return {flushed(step, value)};
            case AlarmKind::VanishingGradient:
                row = tensor(step, TensorRole::Gradient, "first.weight");
                row.rms = value;
                return {tensor(step, TensorRole::Gradient, "head.weight"), row};
            case AlarmKind::DeadLayer:
                row = tensor(step, TensorRole::Output, "relu");
                row.zero = std::llround(1000 * value);
                return {row};
            case AlarmKind::UpdateShare:
                row = tensor(step, TensorRole::Update, "head.weight");
                row.unmoved = value;
                return {row};
            case AlarmKind::SkipStreak:
            case AlarmKind::ScaleFloor: break;
        }
        return {};
    }

    AlarmKind m_kind;
    AlarmJudge m_judge;
    std::int64_t m_step = 0;
    int m_skips = 0;
};

struct Sides {
    double silent, told;
};

Sides sides_of_default(AlarmKind kind) {
    switch (kind) {
        case AlarmKind::Headroom: return {1.0, 0.999};  // bits
        case AlarmKind::FlushShare: return {0.0999, 0.1};
        case AlarmKind::SkipStreak: return {2, 3};
        case AlarmKind::ScaleFloor: return {4.001, 4};  // halvings left
        case AlarmKind::VanishingGradient: return {1e-6, 0.999e-6};
        case AlarmKind::DeadLayer: return {0.999, 1};
        case AlarmKind::UpdateShare: return {0.499, 0.5};
    }
    return {};
}

class AlarmLimits : public testing::TestWithParam<AlarmKind> {};

TEST_P(AlarmLimits, SilentJustBeforeTheDefaultThresholdAndToldAtIt) {
    const auto [silent, told] = sides_of_default(GetParam());
    EXPECT_TRUE(Looks(GetParam(), " steps=1").at(silent).empty());
    const auto rows = Looks(GetParam(), " steps=1").at(told);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].rule, to_string(GetParam()));
    EXPECT_EQ(rows[0].threshold, default_alarm(GetParam()).threshold);
    EXPECT_NEAR(rows[0].value, told, 1e-6 * std::abs(told));
    EXPECT_EQ(rows[0].severity, to_string(default_alarm(GetParam()).level));
    EXPECT_EQ(rows[0].action, "mark");
}

TEST_P(AlarmLimits, AThresholdOfThePlanMovesTheLimit) {
    const auto [silent, told] = sides_of_default(GetParam());
    const bool is_upper = told > silent;  // fires from there up
    const double moved = GetParam() == AlarmKind::SkipStreak ? 5 : is_upper ? told * 0.9 : told * 1.5;
    const std::string settings = " steps=1 threshold=" + to_text(moved);
    if (GetParam() == AlarmKind::SkipStreak) {
        EXPECT_TRUE(Looks(GetParam(), settings).at(4).empty());
        EXPECT_EQ(Looks(GetParam(), settings).at(5).size(), 1U);
        return;
    }
    EXPECT_EQ(Looks(GetParam(), settings).at(silent).size(), 1U) << "no longer silent there";
    EXPECT_TRUE(Looks(GetParam(), settings).at(is_upper ? moved * 0.9 : moved * 1.1).empty());
}

TEST_P(AlarmLimits, FiresOnceAtTheLastOfItsLooksInARow) {
    const auto [silent, told] = sides_of_default(GetParam());
    double step = GetParam() == AlarmKind::SkipStreak ? 1 : 0;  // a row of skips grows by itself
    for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{3}, default_alarm(GetParam()).steps}) {
        Looks looks(GetParam(), " steps=" + std::to_string(steps));
        for (int round = 0; round < 2; ++round) {
            double value = told;
            for (std::int64_t look = 1; look < steps; ++look, value += step) EXPECT_TRUE(looks.at(value).empty()) << steps << ", look " << look;
            if (steps > 1) {
                EXPECT_TRUE(looks.at(silent).empty()) << "untrue in between: counted anew";
                value = told;
                for (std::int64_t look = 1; look < steps; ++look, value += step) EXPECT_TRUE(looks.at(value).empty());
            }
            EXPECT_EQ(looks.at(value).size(), 1U) << steps << ", round " << round;
            for (int more = 0; more < 3; ++more) EXPECT_TRUE(looks.at(value += step).empty()) << "it stays true: said once";
            EXPECT_TRUE(looks.at(silent).empty());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(EachRule, AlarmLimits, testing::ValuesIn(all_alarm_kinds),
                         [](const auto& rule) { return std::string(to_string(rule.param)); });

TEST(Alarms, AScaleThatBeganThereHasNotFallen) {
    for (const double initial : {0x1p-11, 0x1p-10}) {
        AlarmJudge judge({default_alarm(AlarmKind::ScaleFloor)}, {Precision::Fp16, initial, floor_scale});
        EXPECT_EQ(judge.look_at_step({0, false, 0x1p-11, 0x1p-11}).size(), initial > 0x1p-11 ? 1U : 0U);
    }
}

TEST(Alarms, SkipsBeforeTheFirstAppliedStepAreNoStreak) {
    AlarmJudge judge({default_alarm(AlarmKind::SkipStreak)}, {Precision::Fp16, 65536, floor_scale});
    for (std::int64_t step = 0; step < 20; ++step) EXPECT_TRUE(judge.look_at_step({step, true, scale, scale}).empty());
}

}  // namespace
}  // namespace mantissa
