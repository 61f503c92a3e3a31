#include "judge/op_share.h"

#include <set>

namespace mantissa {
namespace {

/// Losses, norms and softmaxes by the names that people call; their inner ops only repeat them.
bool is_kept_by_rule(std::string_view op) {
    if (op.starts_with('_') || op.starts_with("native_") || op.ends_with("_forward") || op.ends_with("_nd")) return false;
    for (const char* part : {"loss", "cross_entropy", "softmax", "norm"}) {
        if (op.find(part) != std::string_view::npos && op.find("backward") == std::string_view::npos) return true;
    }
    return false;
}

OpShare share_of_trial(const TrialReport& trial) {
    OpShare share;
    share.kinds = trial.op_kinds;
    share.kinds_half = trial.op_kinds_half;
    share.multiply_adds = trial.multiply_adds;
    share.multiply_adds_half = trial.multiply_adds_half;
    return share;
}

}  // namespace

bool is_half_dtype(std::string_view dtype) {
    return dtype == "float16" || dtype == "bfloat16" || dtype.starts_with("float8");
}

std::optional<OpShare> op_share(const std::vector<OpDtypeRow>& ops, const std::optional<TrialReport>& trial) {
    if (ops.empty()) {
        return trial && trial->runs && trial->op_kinds > 0 ? std::optional(share_of_trial(*trial)) : std::nullopt;
    }
    OpShare share;
    share.multiply_adds_fp8 = 0;
    std::set<std::string> all, half, kept;
    std::map<std::string, std::set<std::string>> products;
    for (const OpDtypeRow& row : ops) {
        if (row.step != ops.front().step) continue;  // one step stands for all
        all.insert(row.op);
        share.multiply_adds += row.multiply_adds;
        if (is_half_dtype(row.dtype)) {
            half.insert(row.op);
            share.multiply_adds_half += row.multiply_adds;
            if (row.dtype.starts_with("float8")) *share.multiply_adds_fp8 += row.multiply_adds;
            if (row.multiply_adds > 0) products[row.dtype].insert(row.op);
            // fp8 is told where there is any: the rest of such a step is bfloat16.
            if (share.dtype.empty() || (row.multiply_adds > 0 && !share.dtype.starts_with("float8"))) share.dtype = row.dtype;
        } else if (row.phase == "forward" && row.dtype == "float32" && is_kept_by_rule(row.op)) {
            kept.insert(row.op);
        }
    }
    share.kinds = static_cast<std::int64_t>(all.size());
    share.kinds_half = static_cast<std::int64_t>(half.size());
    for (const auto& [dtype, names] : products) share.half_products[dtype].assign(names.begin(), names.end());
    share.kept.assign(kept.begin(), kept.end());
    share.step = ops.front().step;
    return share;
}

}  // namespace mantissa
