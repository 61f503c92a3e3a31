#include "formats/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace mantissa::formats {
namespace {

constexpr int deepest = 8;  // the format needs three levels
constexpr std::size_t most_dimensions = 64;

std::string shown(std::string_view name) {
    std::string result;
    for (const char letter : name.substr(0, 80))
        result += static_cast<unsigned char>(letter) < 0x20 ? '?' : letter;
    return "'" + result + (name.size() > 80 ? "…'" : "'");
}

/// Looked at before parsing: a header of millions of brackets would make the parser's stack large.
bool is_nested_too_deeply(std::string_view text) {
    int depth = 0;
    bool in_text = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (in_text) {
            if (letter == '\\') ++at;
            if (letter == '"') in_text = false;
        } else if (letter == '"') {
            in_text = true;
        } else if (letter == '[' || letter == '{') {
            if (++depth > deepest) return true;
        } else if (letter == ']' || letter == '}') {
            --depth;
        }
    }
    return false;
}

class HeaderParser {
  public:
    HeaderParser(std::uint64_t data_bytes, const std::string& source)
        : m_data_bytes(data_bytes), m_source(source) {}

    Result<SafeTensorHeader> parse(std::string_view text);

  private:
    [[nodiscard]] Error error(const std::string& what) const {
        return {ErrorCode::InputOutput, m_source + " is damaged or hostile: " + what, "fetch the file again"};
    }
    [[nodiscard]] Error error_in(const TensorPlace& place, const std::string& what) const {
        return error("tensor " + shown(place.name) + ": " + what);
    }
    Result<nlohmann::json> parse_json(std::string_view text);
    Result<void> take_metadata(const nlohmann::json& json);
    Result<void> take_tensor(const std::string& name, const nlohmann::json& json);
    Result<void> take_shape(TensorPlace& place, const nlohmann::json& json);
    Result<void> take_offsets(TensorPlace& place, const nlohmann::json& json);
    Result<void> check_layout();

    std::uint64_t m_data_bytes;
    const std::string& m_source;
    SafeTensorHeader m_header;
};

/// JSON that says the same name twice is refused (the parser itself would take the last).
Result<nlohmann::json> HeaderParser::parse_json(std::string_view text) {
    if (is_nested_too_deeply(text)) return error("its header is nested too deeply");
    std::vector<std::set<std::string>> keys;
    std::optional<std::string> repeated;
    using Event = nlohmann::json::parse_event_t;
    const auto watch = [&](int, Event event, nlohmann::json& parsed) {
        if (event == Event::object_start) keys.emplace_back();
        if (event == Event::object_end && !keys.empty()) keys.pop_back();
        if (event == Event::key && !keys.empty() && !repeated) {
            const auto& name = parsed.get_ref<const std::string&>();
            if (!keys.back().insert(name).second) repeated = name;
        }
        return true;
    };
    nlohmann::json json;
    try {
        json = nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::parse_error& problem) {
        return error("its header is no valid JSON at byte " + std::to_string(8 + problem.byte));
    } catch (const nlohmann::json::exception& problem) {
        return error(std::string("its header can't be parsed: ") + problem.what());
    }
    if (repeated) return error("its header names " + shown(*repeated) + " twice");
    if (!json.is_object()) return error("its header is not a JSON object");
    return json;
}

Result<void> HeaderParser::take_metadata(const nlohmann::json& json) {
    if (!json.is_object()) return error("__metadata__ must be an object of texts");
    for (const auto& [key, value] : json.items()) {
        if (!value.is_string()) return error("__metadata__ " + shown(key) + " must be a text");
        m_header.metadata[key] = value.get<std::string>();
    }
    return {};
}

Result<void> HeaderParser::take_shape(TensorPlace& place, const nlohmann::json& json) {
    const auto shape = json.find("shape");
    if (shape == json.end() || !shape->is_array()) return error_in(place, "shape must be a list of sizes");
    if (shape->size() > most_dimensions) return error_in(place, "more than 64 dimensions");
    for (const auto& size : *shape) {
        if (!size.is_number_unsigned() || size.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
            return error_in(
                place, "shape holds " +
                           size.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 40) +
                           ", which is no size");
        }
        place.shape.push_back(size.get<std::int64_t>());
    }
    return {};
}

Result<void> HeaderParser::take_offsets(TensorPlace& place, const nlohmann::json& json) {
    const auto offsets = json.find("data_offsets");
    const bool pair = offsets != json.end() && offsets->is_array() && offsets->size() == 2 &&
                      (*offsets)[0].is_number_unsigned() && (*offsets)[1].is_number_unsigned();
    if (!pair) return error_in(place, "data_offsets must be two positions");
    place.begin = (*offsets)[0].get<std::uint64_t>();
    place.end = (*offsets)[1].get<std::uint64_t>();
    if (place.begin > place.end || place.end > m_data_bytes) {
        return error_in(place, "data_offsets " + std::to_string(place.begin) + " to " +
                                   std::to_string(place.end) + " lie outside the file's " +
                                   std::to_string(m_data_bytes) + " bytes of data");
    }
    std::uint64_t bytes = bytes_per_element(place.type);
    bool overflow = false;
    const bool empty = std::find(place.shape.begin(), place.shape.end(), 0) != place.shape.end();
    for (const std::int64_t size : place.shape) {
        overflow = overflow || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes);
    }
    if (empty) bytes = 0;
    if ((overflow && !empty) || bytes != place.end - place.begin) {
        return error_in(place,
                        "its shape needs " + (overflow && !empty ? "too many" : std::to_string(bytes)) +
                            " bytes, its data_offsets give " + std::to_string(place.end - place.begin));
    }
    return {};
}

Result<void> HeaderParser::take_tensor(const std::string& name, const nlohmann::json& json) {
    TensorPlace place;
    place.name = name;
    if (!json.is_object()) return error_in(place, "its entry is not an object");
    const auto dtype = json.find("dtype");
    if (dtype == json.end() || !dtype->is_string()) return error_in(place, "dtype must be a text");
    const auto type = parse_tensor_type(dtype->get_ref<const std::string&>());
    if (!type) {
        return Error{ErrorCode::InputOutput,
                     m_source + ": tensor " + shown(name) + " has dtype " +
                         shown(dtype->get_ref<const std::string&>()) + ", which isn't read here",
                     "dtypes read are F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL"};
    }
    place.type = *type;
    if (auto done = take_shape(place, json); !done) return done;
    if (auto done = take_offsets(place, json); !done) return done;
    m_header.tensors.push_back(std::move(place));
    return {};
}

Result<void> HeaderParser::check_layout() {
    auto& tensors = m_header.tensors;
    std::sort(tensors.begin(), tensors.end(), [](const TensorPlace& a, const TensorPlace& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (const TensorPlace& place : tensors) {
        if (place.begin != at) {
            return error_in(
                place, place.begin < at
                           ? "its bytes overlap with another tensor's"
                           : "there is a hole of " + std::to_string(place.begin - at) + " bytes before it");
        }
        at = place.end;
    }
    if (at != m_data_bytes) {
        return error("the header describes " + std::to_string(at) + " bytes of data, the file holds " +
                     std::to_string(m_data_bytes));
    }
    return {};
}

Result<SafeTensorHeader> HeaderParser::parse(std::string_view text) {
    auto json = parse_json(text);
    if (!json) return json.error();
    for (const auto& [name, entry] : json->items()) {
        auto done = name == "__metadata__" ? take_metadata(entry) : take_tensor(name, entry);
        if (!done) return done.error();
    }
    if (auto done = check_layout(); !done) return done.error();
    return std::move(m_header);
}

}  // namespace

Result<SafeTensorHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                  const std::string& source) {
    return HeaderParser(data_bytes, source).parse(json);
}

}  // namespace mantissa::formats
