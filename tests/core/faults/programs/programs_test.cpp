// Every labelled fault: is its cause named, and is nothing wrong said with confidence? The table stands in the output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "fault_replay.h"

namespace mantissa {
namespace {

struct Outcome {
    std::string named = "nothing", confidence, place;
    bool is_right = false;
};

Outcome outcome_of(const FaultProgram& program, const Diagnosis& diagnosis) {
    Outcome outcome;
    outcome.place = diagnosis.place();
    if (!diagnosis.problem.empty()) {
        outcome.named = diagnosis.problem;
        return outcome;
    }
    const Named found = verdict_of(diagnosis);
    outcome.named = found.cause.empty() || found.cause == found.code ? found.code : found.code + ": " + found.cause;
    outcome.confidence = found.confidence;
    const bool names_place = program.place.empty() || program.place == outcome.place;
    outcome.is_right = (found.code == program.label || found.cause == program.label) && names_place;
    return outcome;
}

std::string grid_of(const ReplayReport& report) {
    std::string text;
    for (const VariantReport& one : report.variants) {
        text += " " + one.id + "=" + (one.state != "done" ? one.state + "(" + one.reason + ")" : *one.this_step_finite ? "finite" : one.value);
        if (one.state == "done") text += one.later_bad_at ? "/bad+" + std::to_string(*one.later_bad_at) : "/+" + std::to_string(one.later_steps);
    }
    return text;
}

void expect_all_named(const FaultPrograms& programs) {
    int right = 0, confidently_wrong = 0;
    for (const FaultProgram& program : programs) {
        const Diagnosis diagnosis = diagnose(program);
        const Outcome outcome = outcome_of(program, diagnosis);
        right += outcome.is_right;
        const bool is_confident = !outcome.is_right && outcome.confidence == "high";
        confidently_wrong += is_confident;
        std::printf("%-5s %-20s %-50s step %2lld  %-28s %-30s %s\n", outcome.is_right ? "right" : "WRONG", program.label.c_str(),
                    title(program).c_str(), static_cast<long long>(diagnosis.report.step), outcome.place.c_str(), outcome.named.c_str(),
                    outcome.confidence.c_str());
        EXPECT_TRUE(outcome.is_right) << title(program) << ": " << program.label << " was to be named, at \"" << program.place << "\"; the birth: "
                                      << (diagnosis.report.birth ? diagnosis.report.birth->producer.phase + " " + outcome.place + " " +
                                                                       diagnosis.report.birth->code
                                                                 : "none")
                                      << "; the grid:" << grid_of(diagnosis.report);
    }
    std::printf("%d of %zu named rightly, %d wrong with confidence\n", right, programs.size(), confidently_wrong);
    EXPECT_EQ(confidently_wrong, 0);
}

TEST(FaultPrograms, values_that_leave_their_format) { expect_all_named(range_programs()); }
TEST(FaultPrograms, formulas_that_give_out) { expect_all_named(formula_programs()); }
TEST(FaultPrograms, bad_before_or_after_the_step) { expect_all_named(poisoned_programs()); }
TEST(FaultPrograms, what_cannot_be_decided) { expect_all_named(open_programs()); }

void expect_told(const FaultPrograms& programs) {
    for (const FaultProgram& program : programs) {
        const std::vector<std::string> told = told_codes(compare(program));
        const bool is_right = std::find(told.begin(), told.end(), program.label) != told.end();
        EXPECT_TRUE(is_right) << title(program);
        std::string all;
        for (const std::string& code : told) all += (all.empty() ? "" : " ") + code;
        std::printf("%-5s %-20s %-60s %s\n", is_right ? "right" : "WRONG", program.label.c_str(), title(program).c_str(), all.c_str());
    }
}

TEST(FaultPrograms, what_only_skipping_survived) { expect_told(survivors()); }

TEST(FaultPrograms, gradients_below_the_format) {
    expect_told(underflowing());
    for (FaultProgram program : underflowing()) {
        const std::vector<std::string> alone{program.label};
        EXPECT_EQ(told_codes(compare(program)), alone) << title(program);
        // The same loss at a scale that carries its gradients is healthy.
        program.initial_scale = 0x1p28;
        EXPECT_EQ(told_codes(compare(program)), std::vector<std::string>()) << title(program);
    }
}

TEST(FaultPrograms, there_are_enough_of_every_cause) {
    std::map<std::string, int> of_label;
    std::size_t all = 0;
    for (const auto& programs : {range_programs(), formula_programs(), poisoned_programs(), open_programs(), survivors(), underflowing()}) {
        all += programs.size();
        for (const FaultProgram& program : programs) ++of_label[program.label];
    }
    EXPECT_GE(all, 40u);
    for (const auto& [label, count] : of_label) {
        EXPECT_GE(count, label == "unknown" ? 1 : 2) << label;
    }
}

}  // namespace
}  // namespace mantissa
