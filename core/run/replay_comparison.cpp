#include "run/replay_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files.h"
#include "base/numbers.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {
namespace {

// Another order of additions, grown over a hundred steps, stays far below; another course of training is far above.
constexpr double close_share = 0.01;

// A NaN's payload isn't recorded.
bool same_bits(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

bool is_close(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::isfinite(a) == std::isfinite(b);
    return std::abs(a - b) <= close_share * std::max({std::abs(a), std::abs(b), 1e-6});
}

std::string shown(double value) { return to_text(value); }
std::string shown(bool value) { return value ? "yes" : "no"; }
std::string shown(const std::optional<double>& value) { return value ? to_text(*value) : "none"; }

template <typename T>
std::string difference(const StepRow& here, const char* what, const T& mine, const T& recorded) {
    return "at step " + std::to_string(here.step) + " " + what + " is " + shown(mine) + " here and " + shown(recorded) +
           " in the record";
}

// Everything that is a number of the training; times and memory are not. The first that differs, as a sentence.
std::string first_difference(const StepRow& here, const StepRow& record) {
    if (!same_bits(here.loss, record.loss)) return difference(here, "the loss", here.loss, record.loss);
    if (here.skipped != record.skipped) return difference(here, "\"skipped\"", here.skipped, record.skipped);
    if (here.loss_scale != record.loss_scale) return difference(here, "the loss scale", here.loss_scale, record.loss_scale);
    if (!same_bits(here.grad_norm, record.grad_norm))
        return difference(here, "the gradient norm", here.grad_norm, record.grad_norm);
    if (!same_bits(here.learning_rate, record.learning_rate))
        return difference(here, "the learning rate", here.learning_rate, record.learning_rate);
    if (here.nonfinite_grads != record.nonfinite_grads)
        return difference(here, "the number of non-finite gradients", static_cast<double>(here.nonfinite_grads),
                          static_cast<double>(record.nonfinite_grads));
    return "";
}

bool same_pattern(const StepRow& here, const StepRow& record) {
    const bool is_bad = here.nonfinite_grads > 0, was_bad = record.nonfinite_grads > 0;
    return here.skipped == record.skipped && here.nonfinite_loss == record.nonfinite_loss && is_bad == was_bad &&
           here.loss_scale == record.loss_scale && is_close(here.loss, record.loss);
}

std::string text_at(const nlohmann::json& environment, const char* pointer) {
    const nlohmann::json::json_pointer place(pointer);
    if (!environment.contains(place)) return "";
    const nlohmann::json& value = environment.at(place);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string environment_difference(const nlohmann::json& here, const nlohmann::json& there) {
    struct NamedPlace {
        const char* pointer;
        const char* name;
    };
    static const std::vector<NamedPlace> facts{{"/versions/torch", "LibTorch"},
                                         {"/cpu/kernels", "the CPU's instruction set"},
                                         {"/cpu/name", "the CPU"},
                                         {"/threads", "the number of threads"},
                                         {"/environment/OMP_NUM_THREADS", "OMP_NUM_THREADS"},
                                         {"/environment/MKL_CBWR", "MKL_CBWR"},
                                         {"/environment/ONEDNN_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"},
                                         {"/versions/mkl", "MKL"},
                                         {"/versions/onednn", "oneDNN"},
                                         {"/versions/mantissa", "Mantissa"}};
    // A data file that was written anew explains everything else.
    constexpr const char* data = "/hashes/data";
    std::string text = text_at(here, data) == text_at(there, data) ? "" : "the data aren't those that the run was trained on";
    for (const NamedPlace& fact : facts) {
        const std::string mine = text_at(here, fact.pointer), recorded = text_at(there, fact.pointer);
        if (mine == recorded) continue;
        text += (text.empty() ? "" : "; ") + std::string(fact.name) + " is " + (mine.empty() ? "not set" : mine) + " here, " +
                (recorded.empty() ? "not set" : recorded) + " there";
    }
    return text;
}

Result<ReplayComparison> ReplayComparison::open(const std::filesystem::path& run) {
    ReplayComparison comparison;
    comparison.m_run = run;
    const auto reader = RunReader::open(run);
    if (!reader) return reader.error();
    while (true) {
        const Result<RunRows> rows = (*reader)->read_new();
        if (!rows) return rows.error();
        if (rows->steps.empty()) return comparison;
        for (const StepRow& row : rows->steps) comparison.m_record[row.step] = row;
    }
}

void ReplayComparison::add(const StepRow& here) {
    const auto found = m_record.find(here.step);
    if (found == m_record.end()) {
        ++m_missing;
        return;
    }
    ++m_compared;
    const std::string differs = first_difference(here, found->second);
    if (m_difference.empty()) m_difference = differs;
    m_same_bits = m_same_bits && differs.empty();
    m_same_pattern = m_same_pattern && same_pattern(here, found->second);
}

const StepRow* ReplayComparison::recorded(std::int64_t step) const {
    const auto found = m_record.find(step);
    return found == m_record.end() ? nullptr : &found->second;
}

Reproduced ReplayComparison::reproduced() const {
    if (m_compared == 0 || m_missing > 0 || !m_same_pattern) return Reproduced::No;
    return m_same_bits ? Reproduced::Bits : Reproduced::Pattern;
}

std::string ReplayComparison::reason(const nlohmann::json& here) const {
    if (m_compared == 0 && m_missing == 0) return "no step was done as the run did it, so there is nothing to compare";
    if (m_missing > 0)
        return "the record lacks " + std::to_string(m_missing) + " of " + std::to_string(m_missing + m_compared) + " steps";
    if (m_difference.empty()) return "";
    const Result<std::string> text = read_file(RunFolder{m_run}.environment());
    const nlohmann::json there = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    const std::string machine = there.is_object() ? environment_difference(here, there) : "the run has no environment.json";
    return m_difference + (machine.empty() ? "" : ": " + machine);
}

}  // namespace mantissa
