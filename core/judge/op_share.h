#pragma once
// What share of a model's ops gave half-width results: the proof that a mode is on, which an output in float32 can't give.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/reports.h"
#include "record/rows.h"

namespace mantissa {

struct OpShare {
    std::int64_t kinds = 0, kinds_half = 0;  // distinct ops
    std::int64_t multiply_adds = 0, multiply_adds_half = 0;
    std::optional<std::int64_t> multiply_adds_fp8;   // part of them; empty when a trial counted
    std::string dtype;                               // of the half results: "float16"; empty when there are none or a trial counted
    std::map<std::string, std::vector<std::string>> half_products;  // ops with multiply-adds in half, by dtype
    std::vector<std::string> kept;                   // losses, norms and softmaxes that stayed in float32
    std::optional<std::int64_t> step;                // that was watched; empty: the trial batch
};

[[nodiscard]] bool is_half_dtype(std::string_view dtype);
/// Of the recording; of the trial when the run recorded none; empty when nobody counted.
[[nodiscard]] std::optional<OpShare> op_share(const std::vector<OpDtypeRow>& ops, const std::optional<TrialReport>& trial);

}  // namespace mantissa
