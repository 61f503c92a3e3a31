// JSON of replay_report.h. Files of older versions read: what is missing keeps its default.
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "record/json_fields.h"
#include "record/optional_json.h"
#include "record/replay_report.h"

namespace mantissa {
namespace {

using nlohmann::json;
using record_json::Fields;
using record_json::optional_json;

json to_json(const StepValue& value) { return json::array({value.step, number_to_json(value.value)}); }

template <typename T>
json list_of(const std::vector<T>& values) {
    json list = json::array();
    for (const T& value : values) list.push_back(to_json(value));
    return list;
}

void read_step_values(Fields& fields, const char* key, std::vector<StepValue>& values) {
    const json* list = fields.find(key);
    if (list == nullptr) return;
    for (const json& one : *list) {
        const bool fits = one.is_array() && one.size() == 2 && one[0].is_number_integer();
        const auto value = fits ? number_from_json(one[1]) : std::nullopt;
        if (!value) return fields.fail(key, "a list of [step, number]");
        values.push_back({one[0].get<std::int64_t>(), *value});
    }
}

void read_numbers(Fields& fields, const char* key, std::vector<double>& values) {
    const json* list = fields.find(key);
    if (list == nullptr) return;
    for (const json& one : *list) {
        const auto value = number_from_json(one);
        if (!value) return fields.fail(key, "a list of numbers");
        values.push_back(*value);
    }
}

void read_integers(Fields& fields, const char* key, std::vector<std::int64_t>& values) {
    const json* list = fields.find(key);
    if (list == nullptr) return;
    for (const json& one : *list) {
        if (!one.is_number_integer()) return fields.fail(key, "a list of whole numbers");
        values.push_back(one.get<std::int64_t>());
    }
}

template <typename T>
void read_optional(Fields& fields, const char* key, std::optional<T>& value) {
    if (fields.find(key) == nullptr) return;
    T read{};
    fields.read(key, read);
    value = read;
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

TensorReading reading_from(Fields& fields) {
    TensorReading reading;
    fields.read("name", reading.name);
    fields.read("dtype", reading.dtype);
    read_integers(fields, "shape", reading.shape);
    fields.read("negative", reading.negative);
    fields.read("zero", reading.zero);
    fields.read("positive", reading.positive);
    fields.read("neg_inf", reading.neg_inf);
    fields.read("pos_inf", reading.pos_inf);
    fields.read("nan", reading.nan);
    fields.read("largest", reading.largest);
    fields.read("smallest_nonzero", reading.smallest_nonzero);
    return reading;
}

OpReading op_from(Fields& fields) {
    OpReading op;
    fields.read("index", op.index);
    fields.read("phase", op.phase);
    fields.read("module", op.module);
    fields.read("op", op.op);
    fields.read("kernel", op.kernel);
    fields.read_objects("operands", [&](Fields& one) { op.operands.push_back(reading_from(one)); });
    read_numbers(fields, "scalars", op.scalars);
    fields.read_object("result", [&](Fields& one) { op.result = reading_from(one); });
    fields.read("is_birth", op.is_birth);
    return op;
}

void read_ops(Fields& fields, const char* key, std::vector<OpReading>& ops) {
    fields.read_objects(key, [&](Fields& one) { ops.push_back(op_from(one)); });
}

BirthReport birth_from(Fields& fields) {
    BirthReport birth;
    fields.read("code", birth.code);
    fields.read("tensor", birth.tensor);
    fields.read_object("producer", [&](Fields& one) { birth.producer = op_from(one); });
    read_ops(fields, "before", birth.before);
    read_ops(fields, "after", birth.after);
    fields.read("carried", birth.carried);
    read_optional(fields, "sample", birth.sample);
    read_optional(fields, "step", birth.step);
    read_optional(fields, "rank", birth.rank);
    return birth;
}

VariantReport variant_from(Fields& fields) {
    VariantReport variant;
    fields.read("id", variant.id);
    fields.read("mode", variant.mode);
    fields.read("island", variant.island);
    fields.read("settings", variant.settings);
    fields.read("from_step", variant.from_step);
    fields.read("state", variant.state);
    fields.read("reason", variant.reason);
    read_optional(fields, "this_step_finite", variant.this_step_finite);
    fields.read("value", variant.value);
    fields.read("same_place", variant.same_place);
    fields.read("place", variant.place);
    fields.read("later_steps", variant.later_steps);
    read_optional(fields, "later_bad_at", variant.later_bad_at);
    fields.read("loss", variant.loss);
    fields.read("later_loss", variant.later_loss);
    fields.read("seconds", variant.seconds);
    return variant;
}

template <typename T>
Result<T> finished(Fields& fields, T value) {
    if (auto result = fields.result(); !result) return result.error();
    return value;
}

}  // namespace

json to_json(const TensorReading& reading) {
    return {{"name", reading.name},
            {"dtype", reading.dtype},
            {"shape", reading.shape},
            {"negative", reading.negative},
            {"zero", reading.zero},
            {"positive", reading.positive},
            {"neg_inf", reading.neg_inf},
            {"pos_inf", reading.pos_inf},
            {"nan", reading.nan},
            {"largest", number_to_json(reading.largest)},
            {"smallest_nonzero", number_to_json(reading.smallest_nonzero)}};
}

json to_json(const OpReading& op) {
    json scalars = json::array();
    for (const double scalar : op.scalars) scalars.push_back(number_to_json(scalar));
    return {{"index", op.index},   {"phase", op.phase},           {"module", op.module},
            {"op", op.op},         {"kernel", op.kernel},         {"operands", list_of(op.operands)},
            {"scalars", scalars},  {"result", to_json(op.result)}, {"is_birth", op.is_birth}};
}

json to_json(const BirthReport& birth) {
    return {{"code", birth.code},
            {"tensor", birth.tensor},
            {"producer", to_json(birth.producer)},
            {"before", list_of(birth.before)},
            {"after", list_of(birth.after)},
            {"carried", birth.carried},
            {"sample", optional_json(birth.sample)},
            {"step", optional_json(birth.step)},
            {"rank", optional_json(birth.rank)}};
}

json to_json(const IncidentReport& report) {
    json watched = json::array();
    for (const auto& one : report.watched) {
        watched.push_back({{"tensor", one.tensor}, {"quantity", one.quantity}, {"largest", list_of(one.largest)}});
    }
    return {{"version", 1},
            {"step", report.step},
            {"mode", to_string(report.mode)},
            {"kind", report.kind},
            {"severity", report.severity},
            {"loss", number_to_json(report.loss)},
            {"loss_scale", number_to_json(report.loss_scale)},
            {"micro_batch", optional_json(report.micro_batch)},
            {"rank", optional_json(report.rank)},
            {"birth", report.birth ? to_json(*report.birth) : json(nullptr)},
            {"watched", std::move(watched)},
            {"states", report.states},
            {"state_bytes", report.state_bytes},
            {"no_states", report.no_states}};
}

json to_json(const VariantReport& variant) {
    return {{"id", variant.id},
            {"mode", to_string(variant.mode)},
            {"island", variant.island},
            {"settings", variant.settings},
            {"change", variant.change()},
            {"this_step", text_or_null(variant.this_step_text())},
            {"later", text_or_null(variant.later_text())},
            {"from_step", variant.from_step},
            {"state", variant.state},
            {"reason", variant.reason},
            {"this_step_finite", optional_json(variant.this_step_finite)},
            {"value", variant.value},
            {"same_place", variant.same_place},
            {"place", variant.place},
            {"later_steps", variant.later_steps},
            {"later_bad_at", optional_json(variant.later_bad_at)},
            {"holds", variant.holds()},
            {"loss", number_to_json(variant.loss)},
            {"later_loss", number_to_json(variant.later_loss)},
            {"seconds", variant.seconds}};
}

json to_json(const ReplayReport& report) {
    return {{"version", 1},
            {"run_dir", report.run_dir},
            {"step", report.step},
            {"mode", to_string(report.mode)},
            {"state", report.state},
            {"problem", report.problem},
            {"reproduced", report.reproduced ? json(to_string(*report.reproduced)) : json(nullptr)},
            {"reproduced_reason", report.reproduced_reason},
            {"is_what_if", report.is_what_if},
            {"control_finite", optional_json(report.control_finite)},
            {"control_run", report.control_run},
            {"producer", report.birth ? to_json(report.birth->producer) : json(nullptr)},
            {"birth", report.birth ? to_json(*report.birth) : json(nullptr)},
            {"ops", list_of(report.ops)},
            {"limit", number_to_json(report.limit)},
            {"producer_largest", list_of(report.producer_largest)},
            {"one_bit_left_step", optional_json(report.one_bit_left_step)},
            {"variants", list_of(report.variants)},
            {"best", report.best},
            {"verdict", report.verdict ? to_json(*report.verdict) : json(nullptr)},
            {"start_step", report.start_step},
            {"seconds", report.seconds}};
}

Result<BirthReport> birth_report_from_json(const json& value) {
    Fields fields(value, "birth");
    return finished(fields, birth_from(fields));
}

Result<IncidentReport> incident_report_from_json(const json& value) {
    IncidentReport report;
    Fields fields(value, "the incident");
    fields.read("step", report.step);
    fields.read("mode", report.mode);
    fields.read("kind", report.kind);
    fields.read("severity", report.severity);
    fields.read("loss", report.loss);
    fields.read("loss_scale", report.loss_scale);
    read_optional(fields, "micro_batch", report.micro_batch);
    read_optional(fields, "rank", report.rank);
    fields.read_object("birth", [&](Fields& one) { report.birth = birth_from(one); });
    fields.read_objects("watched", [&](Fields& one) {
        IncidentReport::Watched watched;
        one.read("tensor", watched.tensor);
        one.read("quantity", watched.quantity);
        read_step_values(one, "largest", watched.largest);
        report.watched.push_back(std::move(watched));
    });
    fields.read("states", report.states);
    fields.read("state_bytes", report.state_bytes);
    fields.read("no_states", report.no_states);
    return finished(fields, std::move(report));
}

Result<VariantReport> variant_report_from_json(const json& value) {
    Fields fields(value, "the variant");
    return finished(fields, variant_from(fields));
}

Result<ReplayReport> replay_report_from_json(const json& value) {
    ReplayReport report;
    Fields fields(value, "the replay");
    fields.read("run_dir", report.run_dir);
    fields.read("step", report.step);
    fields.read("mode", report.mode);
    fields.read("state", report.state);
    fields.read("problem", report.problem);
    if (fields.find("reproduced") != nullptr) {
        std::string word;
        fields.read("reproduced", word);
        report.reproduced = parse_reproduced(word);
        if (!report.reproduced) fields.fail("reproduced", "bits, pattern or no");
    }
    fields.read("reproduced_reason", report.reproduced_reason);
    fields.read("is_what_if", report.is_what_if);
    read_optional(fields, "control_finite", report.control_finite);
    fields.read("control_run", report.control_run);
    fields.read_object("birth", [&](Fields& one) { report.birth = birth_from(one); });
    read_ops(fields, "ops", report.ops);
    fields.read("limit", report.limit);
    read_step_values(fields, "producer_largest", report.producer_largest);
    read_optional(fields, "one_bit_left_step", report.one_bit_left_step);
    fields.read_objects("variants", [&](Fields& one) { report.variants.push_back(variant_from(one)); });
    fields.read("best", report.best);
    if (const json* verdict = fields.find("verdict")) {
        auto read = verdict_from_json(*verdict);
        if (read) report.verdict = *read;
        else fields.take(read.error());
    }
    fields.read("start_step", report.start_step);
    fields.read("seconds", report.seconds);
    return finished(fields, std::move(report));
}

}  // namespace mantissa
