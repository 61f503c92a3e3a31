#include "replay_words.h"

#include <algorithm>

#include "base/numbers.h"
#include "launch/replay_apply.h"
#include "output.h"
#include "table.h"

namespace mantissa::cli {
namespace {


std::string number_or_dash(const std::optional<double>& value) { return value ? readable_number(*value, 4) : "–"; }

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t size : shape) text += (text.empty() ? "" : "×") + std::to_string(size);
    return "[" + text + "]";
}

/// Its name within the op's module, what is bad in it, else its largest magnitude.
std::string reading_text(const TensorReading& reading, const std::string& module) {
    const bool is_inside = !module.empty() && reading.name.starts_with(module + ".");
    const std::string name = is_inside ? reading.name.substr(module.size() + 1) : reading.name;
    std::string text = (name.empty() ? "" : name + " ") + reading.dtype + shape_text(reading.shape);
    const auto add = [&text](std::int64_t count, const char* what) {
        if (count > 0) text += " " + std::string(what) + "×" + std::to_string(count);
    };
    add(reading.nan, "NaN");
    add(reading.pos_inf, "+Inf");
    add(reading.neg_inf, "-Inf");
    return reading.is_finite() ? text + " ≤" + readable_number(reading.largest, 4) : text;
}

std::string place_of(const OpReading& op) { return op.module.empty() ? "aten::" + op.op : op.place(); }

}  // namespace

std::string birth_text(const BirthReport& birth) {
    const std::string rank = birth.rank ? " (rank " + std::to_string(*birth.rank) + ")" : "";
    if (!birth.tensor.empty()) return birth.tensor + " (" + birth.producer.phase + ")" + rank;
    return place_of(birth.producer) + rank;
}

ReplayWords::ReplayWords(std::string_view language) {
    if (const auto catalogue = text_catalogue(language)) m_catalogue = *catalogue;
}

std::string ReplayWords::text(const std::string& key, const TextValues& values) const {
    if (m_catalogue != nullptr)
        if (auto text = m_catalogue->fill("replay_report." + key, values)) return *text;
    return key;  // an installation without its texts
}

std::string ReplayWords::phase(const std::string& code) const {
    return m_catalogue != nullptr && m_catalogue->has("replay_report.phase." + code) ? text("phase." + code) : code;
}

std::string ReplayWords::change(const VariantReport& variant) const {
    std::string settings;
    for (const std::string& setting : variant.settings) settings += (settings.empty() ? "" : ", ") + setting;
    const std::string id = variant.id == "island" && variant.island.empty() ? "island_open" : variant.id;
    return text("change." + id, {{"mode", to_string(variant.mode)}, {"island", variant.island}, {"from", std::to_string(variant.from_step)}, {"settings", settings}});
}

std::string ReplayWords::this_step(const VariantReport& variant) const {
    if (variant.state != "done") return text("state." + variant.state);
    if (variant.this_step_finite.value_or(true)) return text("this_step.finite");
    if (variant.value == "skipped") return text("this_step.skipped");
    return text(variant.place.empty() ? "this_step.bad" : "this_step.bad_in", {{"value", variant.value}, {"place", variant.place}});
}

std::string ReplayWords::later(const VariantReport& variant) const {
    if (variant.state != "done" || variant.later_text().empty()) return text("later.none");
    if (variant.later_bad_at) return text("later.bad", {{"steps", std::to_string(*variant.later_bad_at)}});
    return text("later.holds", {{"steps", std::to_string(variant.later_steps)}});
}

std::string ReplayWords::line(const VariantReport& variant) const {
    TextValues values{{"change", change(variant)}, {"state", text("state." + variant.state)}, {"reason", variant.reason}};
    if (variant.state != "done") return text(variant.reason.empty() ? "line.other" : "line.other_reason", values);
    values["this_step"] = this_step(variant);
    values["later"] = later(variant);
    values["steps"] = std::to_string(variant.later_bad_at.value_or(variant.later_steps));
    values["seconds"] = readable_number(variant.seconds, 3);
    // After a bad step nothing is told by the ones that begin with its weights.
    const bool tells_later = variant.this_step_finite.value_or(false) && !variant.later_text().empty();
    return text(tells_later ? "line.later" : "line.done", values);
}

std::string ReplayWords::reproduced(const ReplayReport& report) const {
    const std::string how = to_string(*report.reproduced);
    if (report.birth && *report.reproduced != Reproduced::No) return text("reproduced_born." + how, {{"where", birth_text(*report.birth)}});
    return text("reproduced." + how);
}

std::string ReplayWords::again(const ReplayReport& report) const {
    return text("again." + std::string(to_string(*report.reproduced)),
                {{"step", std::to_string(report.step)}, {"start", std::to_string(report.start_step)}, {"reason", report.reproduced_reason}});
}

void ReplayWords::print_grid(const ReplayReport& report) const {
    Table table;
    for (const char* title : {"variant", "change", "this_step", "later"}) table.add_column(text("column." + std::string(title)));
    for (const char* title : {"loss", "later_loss", "seconds"}) table.add_column(text("column." + std::string(title)), Table::Align::Right);
    std::vector<std::string> remarks;
    for (const VariantReport& variant : report.variants) {
        const bool is_done = variant.state == "done";
        table.add_row({variant.id + (variant.id == report.best ? " *" : ""), change(variant), this_step(variant), later(variant), number_or_dash(variant.loss),
                       number_or_dash(variant.later_loss), is_done ? readable_number(variant.seconds, 3) + " s" : "–"});
        if (variant.reason.empty()) continue;
        const bool is_wider = variant.id == "island" && is_done && report.birth;
        remarks.push_back(is_wider ? text("island_alone", {{"place", report.birth->place()}}) : text("remark", {{"change", change(variant)}, {"reason", variant.reason}}));
    }
    cli::print("");
    print_table(table);
    for (const std::string& remark : remarks) print_wrapped(remark);
}

/// One operand a line: a row with all of them is wider than a terminal.
void ReplayWords::print_ops(const ReplayReport& report) const {
    if (report.ops.empty()) return;
    cli::print("");
    cli::print(text("ops"));
    Table table;
    table.add_column("  " + text("column.number"));
    for (const char* title : {"phase", "op", "operands", "result"}) table.add_column(text("column." + std::string(title)));
    for (const OpReading& op : report.ops) {
        std::vector<std::string> operands;
        for (const TensorReading& operand : op.operands) operands.push_back(reading_text(operand, op.module));
        if (operands.empty()) operands.emplace_back("–");
        table.add_row({(op.is_birth ? "> " : "  ") + std::to_string(op.index), phase(op.phase), place_of(op), operands.front(), reading_text(op.result, op.module)});
        for (std::size_t i = 1; i < operands.size(); ++i) table.add_row({"", "", "", operands[i], ""});
    }
    print_table(table);
    if (report.one_bit_left_step && report.birth)
        cli::print(text("one_bit_left", {{"where", birth_text(*report.birth)}, {"limit", readable_number(report.limit, 6)}, {"step", std::to_string(*report.one_bit_left_step)}}));
}

void ReplayWords::print_next(const ReplayReport& report, const std::string& replay) const {
    const auto best = std::find_if(report.variants.begin(), report.variants.end(), [&](const VariantReport& one) { return one.id == report.best; });
    if (best == report.variants.end() || replay.empty()) return;
    cli::print("");
    if (const auto fits = check_applicable(*best); !fits) return print_wrapped(describe(fits.error()));
    std::string command = replay + " --apply";
    for (const std::string& setting : best->settings) command += " --what-if " + setting;
    cli::print(text("apply", {{"step", std::to_string(best->from_step)}}) + "\n  " + command);
}

void ReplayWords::print(const ReplayReport& report, const std::string& command) const {
    if (!report.problem.empty()) return;  // said on standard error
    if (report.verdict && !report.verdict->text.empty())
        print_wrapped(report.verdict->text);
    else if (report.birth)
        print_wrapped(text(report.birth->step ? "birth_before" : "birth",
                           {{"step", std::to_string(report.step)},
                            {"earlier", std::to_string(report.birth->step.value_or(report.step))},
                            {"where", birth_text(*report.birth)},
                            {"phase", phase(report.birth->producer.phase)}}));
    if (report.reproduced) print_wrapped(again(report));
    if (report.reproduced == Reproduced::No) return;
    if (report.control_finite && report.control_run != report.run_dir) cli::print(text(*report.control_finite ? "beside.finite" : "beside.bad", {{"run", report.control_run}}));
    print_grid(report);
    print_ops(report);
    print_next(report, command);
}

}  // namespace mantissa::cli
