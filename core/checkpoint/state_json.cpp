#include "checkpoint/state_json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "base/sha256.h"

namespace mantissa::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr const char* format = "mantissa-checkpoint";
constexpr std::int64_t newest_version = 1;
constexpr int deepest_nesting = 16;  // it has six levels
constexpr const char* own_hash = "sha256_without_this_line";

struct Damaged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A NaN's payload and sign are bits, too.
Json bits_to_json(double value) {
    if (std::isfinite(value)) return value;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (!std::isnan(value) || bits == std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())) {
        return number_to_json(value);
    }
    return "NaN:" + std::to_string(bits);
}

double bits_from_json(const Json& json, const std::string& name) {
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        if (text.starts_with("NaN:")) {
            std::uint64_t bits = 0;
            const auto* end = text.data() + text.size();
            if (std::from_chars(text.data() + 4, end, bits).ptr == end) return std::bit_cast<double>(bits);
        } else if (const auto value = number_from_json(json)) {
            return *value;
        }
    }
    throw Damaged(name + " is no number");
}

Json fact_to_json(const Fact& fact) {
    if (const auto* one = std::get_if<double>(&fact)) {
        return std::isfinite(*one) ? Json(*one) : Json{{"double", bits_to_json(*one)}};
    }
    if (const auto* many = std::get_if<std::vector<double>>(&fact)) {
        Json list = Json::array();
        for (const double one : *many) list.push_back(bits_to_json(one));
        return {{"doubles", std::move(list)}};
    }
    return std::visit([](const auto& value) { return Json(value); }, fact);
}

Fact fact_from_json(const Json& json, const std::string& name) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number_float()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_array()) {
        std::vector<std::int64_t> whole;
        for (const Json& one : json) {
            if (!one.is_number_integer()) throw Damaged(name + " is no list of whole numbers");
            whole.push_back(one.get<std::int64_t>());
        }
        return whole;
    }
    if (json.is_object() && json.size() == 1 && json.contains("double")) return bits_from_json(json.at("double"), name);
    if (json.is_object() && json.size() == 1 && json.contains("doubles") && json.at("doubles").is_array()) {
        std::vector<double> values;
        for (const Json& one : json.at("doubles")) values.push_back(bits_from_json(one, name));
        return values;
    }
    throw Damaged(name + " is neither a number, a text nor a list");
}

Json bundles_to_json(const std::vector<StateBundle>& bundles) {
    Json list = Json::array();
    for (const StateBundle& bundle : bundles) list.push_back(facts_to_json(bundle.facts));
    return list;
}

const Json& field(const Json& json, const char* name, bool (Json::*is_right)() const noexcept, const char* wanted) {
    const auto found = json.find(name);
    if (found == json.end() || !((*found).*is_right)()) throw Damaged(std::string("\"") + name + "\" must be " + wanted);
    return *found;
}
std::int64_t whole(const Json& json, const char* name) {
    const auto value = field(json, name, &Json::is_number_integer, "a whole number").get<std::int64_t>();
    if (value < 0) throw Damaged(std::string("\"") + name + "\" must be 0 or more");
    return value;
}
std::string text_of(const Json& json, const char* name) {
    return field(json, name, &Json::is_string, "a text").get<std::string>();
}

std::map<std::string, Fact> facts_of(const Json& json, const std::string& place) {
    if (!json.is_object()) throw Damaged(place + " must be an object");
    std::map<std::string, Fact> facts;
    for (const auto& [name, value] : json.items()) facts.emplace(name, fact_from_json(value, place + "." + name));
    return facts;
}

std::vector<StateBundle> bundles_of(const Json& json, const char* name) {
    std::vector<StateBundle> bundles;
    for (const Json& one : field(json, name, &Json::is_array, "a list")) {
        bundles.push_back({.facts = facts_of(one, std::string(name) + "[" + std::to_string(bundles.size()) + "]"), .tensors = {}});
    }
    return bundles;
}

std::vector<WrittenFile> files_of(const Json& json) {
    std::vector<WrittenFile> files;
    for (const Json& one : field(json, "files", &Json::is_array, "a list")) {
        if (!one.is_object()) throw Damaged("\"files\" must hold objects");
        WrittenFile file{text_of(one, "name"), static_cast<std::uint64_t>(whole(one, "bytes")), text_of(one, "sha256")};
        // A name of the list leads nowhere but into the folder itself.
        if (file.name.empty() || file.name.front() == '.' || file.name.find_first_of(std::string("/\0", 2)) != std::string::npos) {
            throw Damaged("\"files\" names '" + file.name + "', which is no file of the folder");
        }
        files.push_back(std::move(file));
    }
    return files;
}

void read_scale(const Json& json, Checkpoint& checkpoint) {
    const auto found = json.find("loss_scale");
    if (found == json.end() || found->is_null()) return;
    if (!found->is_object()) throw Damaged("\"loss_scale\" must be an object or null");
    const double scale = field(*found, "scale", &Json::is_number, "a number").get<double>();
    if (!std::isfinite(scale) || scale <= 0) throw Damaged("\"loss_scale.scale\" must be a finite number above 0");
    checkpoint.loss_scale = SavedScale{scale, whole(*found, "growth_tracker")};
}

void check_own_hash(Json& json) {
    const std::string said = text_of(json, own_hash);
    json.erase(own_hash);
    if (sha256_hex(json.dump()) != said) throw Damaged("its SHA-256 is another than when it was written");
}

StateFile parse(const std::string& text) {
    Json json = Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
        if (depth > deepest_nesting) throw Damaged("it is nested too deeply");
        return true;
    });
    if (!json.is_object() || json.value("format", Json()) != format) {
        throw Damaged(std::string("it doesn't say \"") + format + "\" as its format");
    }
    const std::int64_t version = whole(json, "version");
    if (version != newest_version) {
        throw Damaged("it has version " + std::to_string(version) + ", this program reads " + std::to_string(newest_version));
    }
    check_own_hash(json);
    StateFile state;
    Checkpoint& checkpoint = state.checkpoint;
    checkpoint.program_version = text_of(json, "program_version");
    checkpoint.time_ns = whole(json, "time_ns");
    checkpoint.step = whole(json, "step");
    checkpoint.applied_steps = whole(json, "applied_steps");
    checkpoint.epoch = whole(json, "epoch");
    checkpoint.gradient_accumulation_steps = whole(json, "gradient_accumulation_steps");
    checkpoint.processes = whole(json, "processes");
    const std::string mode = text_of(json, "mixed_precision");
    const auto precision = parse_precision(mode);
    if (!precision) throw Damaged("\"mixed_precision\" is '" + mode + "'");
    checkpoint.mixed_precision = *precision;
    read_scale(json, checkpoint);
    checkpoint.models.resize(static_cast<std::size_t>(std::min<std::int64_t>(whole(json, "models"), 1 << 20)));
    checkpoint.optimizers = bundles_of(json, "optimizers");
    checkpoint.schedulers = bundles_of(json, "schedulers");
    checkpoint.loaders = bundles_of(json, "loaders");
    checkpoint.objects = bundles_of(json, "objects");
    checkpoint.accelerator.facts = facts_of(field(json, "accelerator", &Json::is_object, "an object"), "accelerator");
    state.files = files_of(json);
    return state;
}

}  // namespace

Json facts_to_json(const std::map<std::string, Fact>& facts) {
    Json json = Json::object();
    for (const auto& [name, fact] : facts) json[name] = fact_to_json(fact);
    return json;
}

Result<std::map<std::string, Fact>> facts_from_json(const Json& json, const std::string& place) {
    try {
        return facts_of(json, place);
    } catch (const Damaged& problem) {
        return Error{ErrorCode::InputOutput, problem.what(), ""};
    }
}

bool StateFile::names(const std::string& file) const {
    return std::any_of(files.begin(), files.end(), [&](const WrittenFile& one) { return one.name == file; });
}

std::string state_to_text(const StateFile& state) {
    const Checkpoint& checkpoint = state.checkpoint;
    Json json{{"format", format}, {"version", newest_version}, {"program_version", checkpoint.program_version},
              {"time_ns", checkpoint.time_ns}, {"step", checkpoint.step}, {"applied_steps", checkpoint.applied_steps},
              {"epoch", checkpoint.epoch}, {"mixed_precision", to_string(checkpoint.mixed_precision)}, {"loss_scale", nullptr},
              {"gradient_accumulation_steps", checkpoint.gradient_accumulation_steps}, {"processes", checkpoint.processes},
              {"models", checkpoint.models.size()}, {"optimizers", bundles_to_json(checkpoint.optimizers)},
              {"schedulers", bundles_to_json(checkpoint.schedulers)}, {"loaders", bundles_to_json(checkpoint.loaders)},
              {"objects", bundles_to_json(checkpoint.objects)}, {"accelerator", facts_to_json(checkpoint.accelerator.facts)},
              {"files", Json::array()}};
    if (checkpoint.loss_scale) {
        json["loss_scale"] = {{"scale", checkpoint.loss_scale->scale}, {"growth_tracker", checkpoint.loss_scale->growth_tracker}};
    }
    for (const WrittenFile& file : state.files) {
        json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    }
    json[own_hash] = sha256_hex(json.dump());
    return json.dump(1) + "\n";
}

Result<StateFile> state_from_text(const std::string& text, const std::string& source) {
    const auto damaged = [&](const std::string& what) {
        return Error{ErrorCode::InputOutput, source + " is damaged: " + what, "go on from an earlier checkpoint"};
    };
    try {
        return parse(text);
    } catch (const Damaged& problem) {
        return damaged(problem.what());
    } catch (const Json::parse_error& problem) {
        return damaged("it is no valid JSON at byte " + std::to_string(problem.byte));
    } catch (const Json::exception&) {
        return damaged("a value is out of range");
    }
}

std::string numbered_name(const char* stem, std::size_t index) {
    return stem + (index == 0 ? std::string() : "_" + std::to_string(index)) + ".safetensors";
}
std::string custom_name(std::size_t index) { return "custom_checkpoint_" + std::to_string(index) + ".safetensors"; }
std::string rank_name(const char* stem, std::int64_t rank) { return stem + ("_" + std::to_string(rank)) + ".safetensors"; }

}  // namespace mantissa::checkpoint
