#include "replay_words.h"

#include <algorithm>

#include "base/numbers.h"
#include "launch/replay_apply.h"
#include "output.h"
#include "table.h"

namespace mantissa::cli {
namespace {

constexpr std::size_t text_width = 100;

std::string plural(std::int64_t count, const std::string& one) { return std::to_string(count) + " " + one + (count == 1 ? "" : "s"); }

std::string number_or_dash(const std::optional<double>& value) { return value ? readable_number(*value, 4) : "–"; }

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t size : shape) text += (text.empty() ? "" : "×") + std::to_string(size);
    return "[" + text + "]";
}

/// What is bad in it, else its largest magnitude.
std::string reading_text(const TensorReading& reading) {
    std::string text = reading.name.empty() ? "" : reading.name + " ";
    text += reading.dtype + shape_text(reading.shape);
    const auto add = [&text](std::int64_t count, const char* what) {
        if (count > 0) text += " " + std::string(what) + "×" + std::to_string(count);
    };
    add(reading.nan, "NaN");
    add(reading.pos_inf, "+Inf");
    add(reading.neg_inf, "-Inf");
    return reading.is_finite() ? text + " ≤" + readable_number(reading.largest, 6) : text;
}

std::string place_of(const OpReading& op) { return op.module.empty() ? "aten::" + op.op : op.place(); }

void print_table(const Table& table) {
    std::string text = table.text();
    text.pop_back();
    print(text);
}

void print_wrapped(const std::string& text) {
    std::string lines = wrapped(text, text_width, 0);
    lines.pop_back();
    print(lines);
}

void print_grid(const ReplayReport& report) {
    std::int64_t later = 0;
    for (const VariantReport& variant : report.variants) later = std::max(later, variant.later_steps);
    Table table;
    for (const char* title : {"change", "mode", "this step"}) table.add_column(title);
    table.add_column(later > 0 ? plural(later, "step") + " on" : "later");
    for (const char* title : {"loss", "later loss", "s"}) table.add_column(title, Table::Align::Right);
    std::vector<std::string> remarks;
    for (const VariantReport& variant : report.variants) {
        const bool is_done = variant.state == "done";
        const std::string here = variant.this_step_text() + (variant.place.empty() || variant.this_step_finite.value_or(true) ? "" : " in " + variant.place);
        table.add_row({variant.change() + (variant.id == report.best ? " *" : ""), to_string(variant.mode), is_done ? here : variant.state,
                       is_done && !variant.later_text().empty() ? variant.later_text() : "–", number_or_dash(variant.loss),
                       number_or_dash(variant.later_loss), is_done ? readable_number(variant.seconds, 3) : "–"});
        if (!variant.reason.empty()) remarks.push_back(variant.change() + ": " + variant.reason);
    }
    print("");
    print_table(table);
    for (const std::string& remark : remarks) print_wrapped(remark);
}

void print_ops(const ReplayReport& report) {
    if (report.ops.empty()) return;
    print("");
    print("Ops of the step around it:");
    Table table;
    for (const char* title : {"  #", "phase", "op", "operands", "result"}) table.add_column(title);
    for (const OpReading& op : report.ops) {
        std::string operands;
        for (const TensorReading& operand : op.operands) operands += (operands.empty() ? "" : ", ") + reading_text(operand);
        table.add_row({(op.is_birth ? "> " : "  ") + std::to_string(op.index), op.phase, place_of(op), operands, reading_text(op.result)});
    }
    print_table(table);
    if (report.one_bit_left_step)
        print(birth_text(*report.birth) + " came within one bit of the limit " + readable_number(report.limit, 6) + " at step " +
              std::to_string(*report.one_bit_left_step) + ".");
}

void print_next(const ReplayReport& report, const std::string& name) {
    const auto best = std::find_if(report.variants.begin(), report.variants.end(), [&](const VariantReport& one) { return one.id == report.best; });
    if (best == report.variants.end()) return;
    print("");
    if (const auto fits = check_applicable(*best); !fits) return print_wrapped(describe(fits.error()));
    std::string command = "mantissa replay " + name + " --step " + std::to_string(report.step) + " --apply";
    for (const std::string& setting : best->settings) command += " --what-if " + setting;
    print("* held. To apply it and continue from step " + std::to_string(best->from_step) + ": " + command);
}

std::string reproduced_text(const ReplayReport& report) {
    const std::string from = "Step " + std::to_string(report.step) + ", done again from step " + std::to_string(report.start_step);
    switch (*report.reproduced) {
        case Reproduced::Bits:
            return from + ": the same bits as recorded.";
        case Reproduced::Pattern:
            return from + ": the same steps are bad, the numbers differ a little (" + report.reproduced_reason + ").";
        case Reproduced::No:
            return from + ": not reproduced, so nothing is tried: " + report.reproduced_reason;
    }
    return "";
}

}  // namespace

std::string birth_text(const BirthReport& birth) {
    if (!birth.tensor.empty()) return birth.tensor + " (" + birth.producer.phase + ")";
    return place_of(birth.producer);
}

std::string variant_line(const VariantReport& variant) {
    std::string text = variant.change() + ": ";
    if (variant.state != "done") return text + variant.state + (variant.reason.empty() ? "" : ": " + variant.reason);
    text += "this step " + variant.this_step_text();
    if (!variant.later_text().empty()) text += ", " + plural(variant.later_steps, "step") + " on " + variant.later_text();
    return text + " (" + readable_number(variant.seconds, 3) + " s)";
}

void print_replay(const ReplayReport& report, const std::string& name) {
    if (!report.problem.empty()) return;  // said on standard error
    if (report.verdict && !report.verdict->text.empty())
        print_wrapped(report.verdict->text);
    else if (report.birth)
        print_wrapped("At step " + std::to_string(report.step) + " the first non-finite value was born in " + birth_text(*report.birth) + ", phase " +
                      report.birth->producer.phase + ".");
    if (report.reproduced) print_wrapped(reproduced_text(report));
    if (report.reproduced == Reproduced::No) return;
    if (report.control_finite)
        print(std::string("The control is ") + (*report.control_finite ? "finite" : "not finite") + " at this step: " + report.control_run);
    print_grid(report);
    print_ops(report);
    print_next(report, name);
}

}  // namespace mantissa::cli
