// Is the mode that was asked for the one that ran, and did the loss stay in fp32?
#include <string>

#include "base/numbers.h"
#include "judge/op_share.h"
#include "judge/verdict_rules.h"

namespace mantissa::rules {
namespace {

bool is_loss_op(std::string_view op) {
    return op.find("_loss") != std::string_view::npos || op.find("cross_entropy") == 0;
}

}  // namespace

std::vector<Finding> mode_not_effective(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const RunSummary& summary = one.run.summary;
        if (!one.is_half() || one.figures.attempts == 0) continue;
        const auto kinds = op_share(one.run.rows.op_dtypes, one.run.trial);
        const bool other_mode = summary.effective != summary.mode;
        const bool no_half_op = kinds && kinds->kinds_half == 0;
        const bool no_fp8 = one.mode() == Precision::Fp8 && kinds && kinds->multiply_adds_fp8 == 0;
        if (!other_mode && !no_half_op && !no_fp8) continue;
        Finding finding("mode_not_effective", "error", one.mode_name());
        finding.set("effective", to_string(summary.effective));
        if (kinds) finding.count("half", kinds->kinds_half).count("kinds", kinds->kinds);
        const std::string& source = one.run.plan.mode_source;
        if (!source.empty()) finding.set("source", source);
        const bool is_bf16 = no_fp8 && !other_mode && !no_half_op;
        finding.what(is_bf16 ? "no_fp8" : !kinds ? "without_counts" : source.empty() ? "plain" : "source");
        finding.next(other_mode ? "other_mode" : is_bf16 ? "no_fp8" : "no_half_op");
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> loss_in_half(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        for (const OpDtypeRow& row : one.run.rows.op_dtypes) {
            if (row.phase != "forward" || !is_half_dtype(row.dtype) || !is_loss_op(row.op)) continue;
            findings.push_back(Finding("loss_in_half", "warning", one.mode_name())
                                   .set("op", row.op)
                                   .set("dtype", row.dtype)
                                   .count("calls", row.calls));
            break;
        }
    }
    return findings;
}

}  // namespace mantissa::rules
