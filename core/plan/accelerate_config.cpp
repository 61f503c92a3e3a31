// Accelerate's default_config.yaml (accelerate 1.15: commands/config/config_args.py). Only the top level
// matters to us; the text is hostile until proven otherwise: size and depth are bounded, anchors and tags are
// refused.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/paths.h"
#include "plan/accelerate_launch.h"
#include "plan/accelerate_places.h"
#include "plan/accelerate_words.h"
#include "plan/nearest.h"
#include "plan/plan_fields.h"
#include "plan/plan_json.h"
#include "plan/plan_sources.h"

namespace mantissa {
namespace {

constexpr std::uint64_t size_limit = 1ull << 20;
constexpr int depth_limit = 64;

struct Entry {
    std::string key, text;
    bool is_nested = false, nested_is_empty = true, is_null = false;
    int line = 0;
};

struct Refused {
    std::string sentence;
};

std::string at_line(int line) {
    return "line " + std::to_string(line + 1);
}

/// Collects the top-level keys; throws Refused before the parser goes deeper than it should.
class TopLevel : public YAML::EventHandler {
  public:
    std::vector<Entry> entries;

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_extras(mark, "", anchor);
        scalar(mark, "", true);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw Refused{at_line(mark.line) + ": an alias is not allowed"};
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_extras(mark, tag, anchor);
        const bool plain = tag == "?";
        scalar(mark, value,
               plain &&
                   (value == "null" || value == "~" || value == "Null" || value == "NULL" || value.empty()));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        refuse_extras(mark, tag, anchor);
        open(mark, false);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        refuse_extras(mark, tag, anchor);
        open(mark, true);
    }
    void OnMapEnd() override { close(); }
    void OnAnchor(const YAML::Mark& mark, const std::string&) override {
        throw Refused{at_line(mark.line) + ": an anchor is not allowed"};
    }

  private:
    static void refuse_extras(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (anchor != 0) throw Refused{at_line(mark.line) + ": an anchor is not allowed"};
        if (!tag.empty() && tag != "?" && tag != "!")
            throw Refused{at_line(mark.line) + ": the tag " + tag + " is not allowed"};
    }
    void scalar(const YAML::Mark& mark, const std::string& text, bool is_null) {
        if (m_depth == 0) throw Refused{at_line(mark.line) + ": the file is not a mapping of keys to values"};
        if (m_depth > 1) {
            if (!entries.empty()) entries.back().nested_is_empty = false;
            return;
        }
        if (!m_has_key) {
            if (std::any_of(entries.begin(), entries.end(),
                            [&text](const Entry& entry) { return entry.key == text; }))
                throw Refused{at_line(mark.line) + ": the key " + text.substr(0, 80) + " appears twice"};
            entries.push_back({text, "", false, true, false, mark.line});
        } else {
            entries.back().text = text;
            entries.back().is_null = is_null;
        }
        m_has_key = !m_has_key;
    }
    void open(const YAML::Mark& mark, bool is_map) {
        if (m_depth == 0 && !is_map)
            throw Refused{at_line(mark.line) + ": the file is not a mapping of keys to values"};
        if (m_depth == 1) {
            if (!m_has_key) throw Refused{at_line(mark.line) + ": a key is not a plain text"};
            entries.back().is_nested = true;
        } else if (m_depth > 1 && !entries.empty()) {
            entries.back().nested_is_empty = false;
        }
        if (++m_depth > depth_limit)
            throw Refused{at_line(mark.line) + ": nested deeper than " + std::to_string(depth_limit) +
                          " levels"};
    }
    void close() {
        if (--m_depth == 1) m_has_key = false;
    }

    int m_depth = 0;
    bool m_has_key = false;
};

Error in_file(const std::string& file, const std::string& sentence, const std::string& hint = {}) {
    return {ErrorCode::BadPlan, file + ": " + sentence, hint};
}

Result<std::vector<Entry>> read_yaml(std::string_view text, const std::string& file) {
    TopLevel handler;
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        parser.HandleNextDocument(handler);
        return std::move(handler.entries);
    } catch (const Refused& refused) {
        return in_file(file, refused.sentence, "write the file plainly, as `accelerate config` does");
    } catch (const YAML::Exception& error) {
        return in_file(file, at_line(error.mark.line) + ": not YAML: " + error.msg);
    }
}

Result<std::vector<Entry>> read_json(std::string_view text, const std::string& file) {
    auto parsed = parse_json_text(text);
    if (!parsed) return in_file(file, parsed.error().message, parsed.error().hint);
    if (!parsed->is_object()) return in_file(file, "the file is not an object of keys and values");
    std::vector<Entry> entries;
    for (const auto& [key, value] : parsed->items()) {
        const bool nested = value.is_structured();
        entries.push_back(
            {key, nested ? "" : value_to_text(value), nested, nested && value.empty(), value.is_null(), 0});
    }
    return entries;
}

enum class Meaning { Takes, NoEffect, Refuses };

struct KnownKey {
    const char* name;
    Meaning meaning;
    const char* harmless;  // values with which a refused key changes nothing, separated by |
};

// NoEffect: addresses and placement of several processes; one process of this machine has no use for them.
constexpr std::array<KnownKey, 44> known_keys{
    {{"mixed_precision", Meaning::Takes, ""},
     {"fp16", Meaning::Takes, ""},
     {"use_cpu", Meaning::Takes, ""},
     {"num_processes", Meaning::Takes, ""},
     {"distributed_type", Meaning::Takes, ""},
     {"gradient_accumulation_steps", Meaning::Takes, ""},
     {"compute_environment", Meaning::Refuses, "LOCAL_MACHINE"},
     {"debug", Meaning::NoEffect, "false"},
     {"machine_rank", Meaning::NoEffect, "0"},
     {"num_machines", Meaning::Refuses, "1"},
     {"gpu_ids", Meaning::NoEffect, "all"},
     {"main_process_ip", Meaning::NoEffect, ""},
     {"main_process_port", Meaning::NoEffect, ""},
     {"rdzv_backend", Meaning::NoEffect, "static"},
     {"same_network", Meaning::NoEffect, "true|false"},
     {"main_training_function", Meaning::NoEffect, "main"},
     {"enable_cpu_affinity", Meaning::NoEffect, "false"},
     {"deepspeed_fields_from_accelerate_config", Meaning::NoEffect, ""},
     {"downcast_bf16", Meaning::Refuses, "no|false"},
     {"fp8_config", Meaning::Refuses, ""},
     {"dynamo_config", Meaning::Refuses, ""},
     {"dynamo_backend", Meaning::Refuses, "no"},
     {"deepspeed_config", Meaning::Refuses, ""},
     {"fsdp_config", Meaning::Refuses, ""},
     {"parallelism_config", Meaning::Refuses, ""},
     {"megatron_lm_config", Meaning::Refuses, ""},
     {"mpirun_config", Meaning::Refuses, ""},
     {"ipex_config", Meaning::Refuses, ""},
     {"nd_parallel_config", Meaning::Refuses, ""},
     {"tpu_env", Meaning::NoEffect, ""},
     {"tpu_name", Meaning::Refuses, ""},
     {"tpu_zone", Meaning::Refuses, ""},
     {"tpu_vm", Meaning::Refuses, ""},
     {"tpu_use_cluster", Meaning::Refuses, "false"},
     {"tpu_use_sudo", Meaning::Refuses, "false"},
     {"command_file", Meaning::Refuses, ""},
     {"commands", Meaning::Refuses, ""},
     {"ec2_instance_type", Meaning::Refuses, ""},
     {"iam_role_name", Meaning::Refuses, ""},
     {"profile", Meaning::Refuses, ""},
     {"region", Meaning::Refuses, ""},
     {"image_uri", Meaning::Refuses, ""},
     {"base_job_name", Meaning::Refuses, ""},
     {"num_cpu_threads_per_process", Meaning::Takes, ""}}};

const KnownKey* find_key(const std::string& name) {
    for (const KnownKey& key : known_keys)
        if (name == key.name) return &key;
    return nullptr;
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

bool is_harmless(const KnownKey& key, const Entry& entry) {
    if (entry.is_null || (entry.is_nested && entry.nested_is_empty) ||
        (!entry.is_nested && entry.text.empty()))
        return true;
    if (entry.is_nested) return false;
    std::istringstream words{std::string(key.harmless)};
    for (std::string word; std::getline(words, word, '|');)
        if (lower(entry.text) == lower(word)) return true;
    return false;
}

class ConfigReader {
  public:
    ConfigReader(std::vector<Entry> entries, std::string file, AcceleratePlaces* places = nullptr)
        : m_entries(std::move(entries)), m_file(std::move(file)), m_places(places) {}

    Result<PlanLayer> read() {
        if (auto known = check_keys(); !known) return known.error();
        for (const Entry& entry : m_entries)
            if (auto taken = take(entry); !taken) return taken.error();
        return std::move(m_layer);
    }

  private:
    Result<void> check_keys() const {
        std::vector<std::string> unknown, names;
        for (const KnownKey& key : known_keys) names.emplace_back(key.name);
        for (const Entry& entry : m_entries)
            if (!find_key(entry.key)) unknown.push_back(entry.key.substr(0, 80));
        if (unknown.empty()) return {};
        const auto near = nearest_names(unknown.front(), names);
        return in_file(
            m_file, "unknown " + std::string(unknown.size() == 1 ? "key " : "keys ") + join_names(unknown),
            near.empty()
                ? "accelerate 1.15 knows: mixed_precision, use_cpu, num_processes, distributed_type, …"
                : "did you mean " + join_names(near) + "?");
    }

    [[nodiscard]] Error bad(const Entry& entry, const std::string& allowed) const {
        const std::string value =
            entry.is_nested ? "not a single value" : "\"" + entry.text.substr(0, 60) + "\"";
        return in_file(m_file, entry.key + " is " + value, allowed);
    }

    Result<void> set(const char* path, std::string_view text, const Entry& entry) {
        return m_layer.set_text(path, text, m_file + ": " + entry.key);
    }

    Result<void> take(const Entry& entry) {
        const KnownKey& key = *find_key(entry.key);
        if (m_places != nullptr && is_place(entry.key)) {
            if (entry.is_nested) return bad(entry, "use a single value");
            if (!entry.is_null && !entry.text.empty()) m_places->values[entry.key] = entry.text;
            return {};
        }
        if (key.meaning == Meaning::Takes) {
            if (entry.is_null) return {};
            return entry.is_nested ? Result<void>(bad(entry, "use a single value")) : take_value(entry);
        }
        if (is_harmless(key, entry)) return {};
        if (key.meaning == Meaning::NoEffect) {
            m_layer.notes.push_back(m_file + ": " + entry.key +
                                    " has no effect on one process of this machine");
            return {};
        }
        return Error{ErrorCode::NotBuilt, m_file + ": " + entry.key + " asks for what is not built yet",
                     "name another file with --config_file, or take the key out"};
    }

    Result<void> take_value(const Entry& entry) {
        if (entry.key == "mixed_precision") return set("mixed_precision", entry.text, entry);
        if (entry.key == "gradient_accumulation_steps")
            return set("training.gradient_accumulation_steps", entry.text, entry);
        if (entry.key == "num_cpu_threads_per_process") return set("launch.threads", entry.text, entry);
        if (entry.key == "num_processes")
            return entry.text == "-1" ? Result<void>() : set("launch.processes", entry.text, entry);
        if (entry.key == "distributed_type") return take_distributed_type(entry);
        const auto is_on = parse_accelerate_switch(entry.text);
        if (!is_on) return bad(entry, "use true or false");
        if (!*is_on) return {};
        if (entry.key == "use_cpu") return set("device", "cpu", entry);
        // Legacy `fp16: true`; a mixed_precision beside it is the newer word and wins.
        const bool has_new_key = std::any_of(m_entries.begin(), m_entries.end(), [](const Entry& other) {
            return other.key == "mixed_precision" && !other.is_null;
        });
        return has_new_key ? Result<void>() : set("mixed_precision", "fp16", entry);
    }

    Result<void> take_distributed_type(const Entry& entry) const {
        for (const char* plain : {"NO", "MULTI_CPU", "MULTI_GPU", "false"})  // bare `NO` is YAML's false
            if (lower(entry.text) == lower(plain)) return {};
        for (const char* other :
             {"MULTI_NPU", "MULTI_MLU", "MULTI_SDAA", "MULTI_MUSA", "MULTI_XPU", "MULTI_HPU", "MULTI_NEURON",
              "DEEPSPEED", "FSDP", "XLA", "TPU", "MEGATRON_LM", "TP"})
            if (lower(entry.text) == lower(other))
                return Error{ErrorCode::NotBuilt,
                             m_file + ": distributed_type is " + entry.text + ": not built yet", "use NO"};
        return bad(entry, "use one of: NO, MULTI_CPU, MULTI_GPU");
    }

    static bool is_place(const std::string& key) {
        for (const char* one : {"num_machines", "machine_rank", "main_process_ip", "main_process_port", "gpu_ids"})
            if (key == one) return true;
        return false;
    }

    std::vector<Entry> m_entries;
    std::string m_file;
    AcceleratePlaces* m_places;
    PlanLayer m_layer{ValueSource::Config, {}, {}};
};

}  // namespace

namespace {

Result<PlanLayer> read_text(std::string_view text, const std::string& file, AcceleratePlaces* places) {
    if (text.size() > size_limit)
        return in_file(file, "is larger than 1 MiB (" + std::to_string(text.size()) + " bytes)",
                       "this is no file of `accelerate config`");
    auto entries = file.ends_with(".json") ? read_json(text, file) : read_yaml(text, file);
    if (!entries) return entries.error();
    return ConfigReader(std::move(entries).value(), file, places).read();
}

}  // namespace

Result<PlanLayer> accelerate_config_text(std::string_view text, const std::string& file) { return read_text(text, file, nullptr); }

std::filesystem::path accelerate_config_folder(const EnvironmentLookup& environment) {
    const auto read = [&environment](const char* name) {
        auto value = environment(name);
        return value && value->empty() ? std::nullopt : value;
    };
    if (const auto home = read("HF_HOME")) return std::filesystem::path(*home) / "accelerate";
    const auto cache = read("XDG_CACHE_HOME");
    const auto home = read("HOME");
    const std::filesystem::path root = cache
                                           ? std::filesystem::path(*cache)
                                           : (home ? std::filesystem::path(*home) : home_folder()) / ".cache";
    return root / "huggingface" / "accelerate";
}

std::filesystem::path default_accelerate_config_file(const EnvironmentLookup& environment) {
    std::error_code ignored;
    for (const char* name : {"default_config.yaml", "default_config.json"}) {
        auto candidate = accelerate_config_folder(environment) / name;
        if (std::filesystem::exists(candidate, ignored)) return candidate;
    }
    return {};
}

namespace {

Result<PlanLayer> read_layer(const std::optional<std::filesystem::path>& explicit_file, const EnvironmentLookup& environment,
                             AcceleratePlaces* places) {
    const auto file = explicit_file ? *explicit_file : default_accelerate_config_file(environment);
    if (!explicit_file && file.empty()) return PlanLayer{ValueSource::Config, {}, {}};
    auto text = read_file(file, size_limit);
    if (!text) return text.error();
    if (places != nullptr) places->file = file.string();
    return read_text(*text, file.string(), places);
}

}  // namespace

Result<PlanLayer> accelerate_config_layer(const std::optional<std::filesystem::path>& explicit_file,
                                          const EnvironmentLookup& environment) {
    AcceleratePlaces of_the_launch;  // a process of a launch has its place already
    return read_layer(explicit_file, environment, environment("WORLD_SIZE") ? &of_the_launch : nullptr);
}

Result<PlanLayer> accelerate_launch_layer(const std::optional<std::filesystem::path>& explicit_file, const EnvironmentLookup& environment,
                                          AcceleratePlaces& places) {
    return read_layer(explicit_file, environment, &places);
}

}  // namespace mantissa
