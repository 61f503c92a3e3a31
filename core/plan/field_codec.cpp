#include "plan/field_codec.h"

#include <algorithm>

namespace mantissa::codec {
namespace {

const char* type_word(const Json& value) {
    switch (value.type()) {
        case Json::value_t::null:
            return "null";
        case Json::value_t::object:
            return "an object";
        case Json::value_t::array:
            return "a list";
        case Json::value_t::string:
            return "a text";
        case Json::value_t::boolean:
            return "true or false";
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
        case Json::value_t::number_float:
            return "a number";
        case Json::value_t::binary:
        case Json::value_t::discarded:
            break;
    }
    return "something else";
}

bool is_index(std::string_view text) {
    return !text.empty() && text.size() <= 4 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool inside(const FieldLimits& limits, double value) {
    if (limits.above_minimum ? value <= limits.minimum : value < limits.minimum) return false;
    return limits.below_maximum ? value < limits.maximum : value <= limits.maximum;
}

}  // namespace

std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    constexpr std::size_t longest = 60;
    if (text.size() <= longest) return text;
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
        --end;  // don't cut a character in two
    return text.substr(0, end) + "…";
}

Error wrong_type(const PlanField& field, const Json& value) {
    if (value.is_null()) return {ErrorCode::BadPlan, field.path + " is null", allowed_values(field)};
    return {ErrorCode::BadPlan, field.path + " is " + shown(value) + ", " + type_word(value),
            allowed_values(field)};
}

Error not_allowed(const PlanField& field, const Json& value) {
    return {ErrorCode::BadPlan, field.path + " is " + shown(value), allowed_values(field)};
}

Result<std::int64_t> read_integer(const PlanField& field, const Json& value) {
    std::int64_t integer = 0;
    if (value.is_number_unsigned()) {
        const auto raw = value.get<std::uint64_t>();
        if (raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return not_allowed(field, value);
        integer = static_cast<std::int64_t>(raw);
    } else if (value.is_number_integer()) {
        integer = value.get<std::int64_t>();
    } else if (value.is_number_float()) {
        const double number = value.get<double>();
        if (std::trunc(number) != number || std::abs(number) > 9.007199254740992e15)
            return not_allowed(field, value);
        integer = static_cast<std::int64_t>(number);
    } else {
        return wrong_type(field, value);
    }
    if (!inside(field.limits, static_cast<double>(integer))) return not_allowed(field, value);
    return integer;
}

Result<double> read_number(const PlanField& field, const Json& value) {
    if (!value.is_number()) return wrong_type(field, value);
    const double number = value.get<double>();
    if (!std::isfinite(number) || !inside(field.limits, number)) return not_allowed(field, value);
    return number;
}

Result<Precision> read_precision(const PlanField& field, const Json& value) {
    // YAML's bare `no` and a JSON false both mean the mode no; a bare true means nothing.
    if (value.is_boolean() && !value.get<bool>()) return Precision::No;
    if (!value.is_string()) return wrong_type(field, value);
    if (const auto parsed = parse_precision(value.get_ref<const std::string&>())) return *parsed;
    return not_allowed(field, value);
}

Result<std::vector<Precision>> read_modes(const PlanField& field, const Json& value) {
    if (!value.is_array()) return wrong_type(field, value);
    std::vector<Precision> modes;
    for (std::size_t i = 0; i < value.size(); ++i) {
        PlanField entry = field;
        entry.path = field.path + "[" + std::to_string(i) + "]";
        entry.kind = FieldKind::Choice;
        auto mode = read_precision(entry, value[i]);
        if (!mode) return mode.error();
        if (std::find(modes.begin(), modes.end(), *mode) != modes.end())
            return Error{ErrorCode::BadPlan,
                         entry.path + " is " + shown(value[i]) + ", which is in the list already",
                         "name each mode once"};
        modes.push_back(*mode);
    }
    return modes;
}

Result<std::vector<std::string>> read_texts(const PlanField& field, const Json& value) {
    if (!value.is_array()) return wrong_type(field, value);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < value.size(); ++i) {
        PlanField entry = field;
        entry.path = field.path + "[" + std::to_string(i) + "]";
        entry.kind = FieldKind::Text;
        if (!value[i].is_string()) return wrong_type(entry, value[i]);
        if (value[i].get_ref<const std::string&>().empty()) return not_allowed(entry, value[i]);
        texts.push_back(value[i].get<std::string>());
    }
    return texts;
}

Result<std::string> read_text(const PlanField& field, const Json& value) {
    if (!value.is_string()) return wrong_type(field, value);
    const auto& text = value.get_ref<const std::string&>();
    if (field.path == "device")
        if (auto device = check_device_name(text); !device) return device.error();
    if (field.kind != FieldKind::Choice) return text;
    for (const std::string& choice : field.choices)
        if (same_spelling(text, choice)) return choice;
    return not_allowed(field, value);
}

}  // namespace mantissa::codec

namespace mantissa {

Result<void> check_device_name(const std::string& device) {
    const std::string kind = device.substr(0, device.find(':'));
    const bool has_index = kind.size() < device.size();
    const bool index_is_good =
        !has_index || codec::is_index(std::string_view(device).substr(kind.size() + 1));
    if (((kind == "auto" || kind == "cpu") && !has_index) || (kind == "cuda" && index_is_good)) return {};
    const std::string message = "device is " + codec::shown(device);
    // Devices of other backends exist, but not for this engine: that is an unsupported device, not a slip of
    // the pen.
    for (const char* known :
         {"mps", "xpu", "npu", "hpu", "mlu", "musa", "sdaa", "xla", "tpu", "neuron", "hip", "rocm"})
        if (kind == known && index_is_good)
            return Error{ErrorCode::UnsupportedDevice, message + ", a backend that this engine has not",
                         "use auto, cpu, cuda or cuda:N"};
    return Error{ErrorCode::BadPlan, message, "use auto, cpu, cuda or cuda:N"};
}

}  // namespace mantissa
