#include "plan/accelerate_update.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "plan/accelerate_words.h"
#include "plan/plan_sources.h"

namespace mantissa {
namespace {

using Json = nlohmann::ordered_json;

std::string cased(std::string text, int (*letter)(int)) {
    for (char& c : text) c = static_cast<char>(letter(static_cast<unsigned char>(c)));
    return text;
}

bool is_json(const std::string& file) {
    return file.ends_with(".json");
}

/// The file as keys and values in order, whichever way they are written. Values are the plain texts.
class Document {
  public:
    virtual ~Document() = default;
    [[nodiscard]] virtual std::optional<std::string> value(const std::string& key) const = 0;
    /// Replaces the value of a key, adds the key at the end, or renames `key` to `name` in its place.
    virtual void put(const std::string& key, const std::string& text, const std::string& name) = 0;
    virtual void put_dynamo(const std::string& backend) = 0;
    virtual void remove(const std::string& key) = 0;
    [[nodiscard]] virtual std::string text() const = 0;
};

class JsonDocument : public Document {
  public:
    explicit JsonDocument(std::string_view text) : m_root(Json::parse(text)) {}
    [[nodiscard]] std::optional<std::string> value(const std::string& key) const override {
        const auto found = m_root.find(key);
        if (found == m_root.end()) return std::nullopt;
        return found->is_string() ? found->get<std::string>() : found->is_null() ? "" : found->dump();
    }
    void put(const std::string& key, const std::string& text, const std::string& name) override {
        const Json value = text == "true"    ? Json(true)
                           : text == "false" ? Json(false)
                           : text == "1"     ? Json(1)
                                             : Json(text);
        replace(key, name, value);
    }
    void put_dynamo(const std::string& backend) override {
        replace("dynamo_backend", "dynamo_config", Json{{"dynamo_backend", backend}});
    }
    void remove(const std::string& key) override { m_root.erase(key); }
    [[nodiscard]] std::string text() const override { return m_root.dump(2) + "\n"; }

  private:
    void replace(const std::string& key, const std::string& name, const Json& value) {
        Json result = Json::object();
        for (const auto& [old_key, old_value] : m_root.items())
            result[old_key == key ? name : old_key] = old_key == key ? value : old_value;
        result[name] = value;
        m_root = std::move(result);
    }
    Json m_root;
};

class YamlDocument : public Document {
  public:
    explicit YamlDocument(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
            m_lines.emplace_back(text.substr(at, end - at + 1));
            at = end + 1;
        }
        m_line_end = !m_lines.empty() && m_lines.front().ends_with("\r\n") ? "\r\n" : "\n";
    }
    [[nodiscard]] std::optional<std::string> value(const std::string& key) const override {
        const auto found = find(key);
        if (!found) return std::nullopt;
        const std::string text = m_lines[found->line].substr(found->begin, found->end - found->begin);
        const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"');
        return quoted ? text.substr(1, text.size() - 2) : text;
    }
    void put(const std::string& key, const std::string& text, const std::string& name) override {
        // A bare no, NO or false would be read as a truth value.
        const bool is_word =
            parse_accelerate_switch(text).has_value() && text != "true" && text != "false" && text != "1";
        const std::string written = is_word ? "'" + text + "'" : text;
        if (const auto found = find(key)) {
            std::string& line = m_lines[found->line];
            const bool quoted = line[found->begin] == '\'' || line[found->begin] == '"';
            if (quoted && name == key && value(key) == text) return;
            const bool has_gap = found->begin > 0 && line[found->begin - 1] == ' ';
            line.replace(found->begin, found->end - found->begin, (has_gap ? "" : " ") + written);
            if (name != key) line.replace(0, line.find(':'), name);
        } else {
            append(name + ": " + written);
        }
    }
    void put_dynamo(const std::string& backend) override {
        const auto found = find("dynamo_backend");
        m_lines[found->line] = "dynamo_config:" + m_lines[found->line].substr(found->end);
        m_lines.insert(m_lines.begin() + static_cast<std::ptrdiff_t>(found->line) + 1,
                       "  dynamo_backend: " + backend + m_line_end);
    }
    void remove(const std::string& key) override {
        if (const auto found = find(key))
            m_lines.erase(m_lines.begin() + static_cast<std::ptrdiff_t>(found->line));
    }
    [[nodiscard]] std::string text() const override {
        std::string all;
        for (const std::string& line : m_lines) all += line;
        return all;
    }

  private:
    struct Place {
        std::size_t line, begin, end;  // of the value, quotes included
    };
    /// A key of the top level begins its line.
    [[nodiscard]] std::optional<Place> find(const std::string& key) const {
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            const std::string& line = m_lines[i];
            std::size_t at = 0;
            for (const std::string& written : {key, "'" + key + "'", "\"" + key + "\""})
                if (line.starts_with(written)) at = written.size();
            if (at == 0) continue;
            at = line.find_first_not_of(" \t", at);
            if (at == std::string::npos || line[at] != ':') continue;
            const std::size_t begin = std::min(line.find_first_not_of(" \t", at + 1), line.size());
            return Place{i, begin, end_of_value(line, begin)};
        }
        return std::nullopt;
    }
    static std::size_t end_of_value(const std::string& line, std::size_t begin) {
        const std::size_t stop = std::min(line.find_first_of("\r\n", 0), line.size());
        if (begin >= stop) return std::min(begin, stop);
        if (line[begin] == '\'' || line[begin] == '"')
            return std::min(line.find(line[begin], begin + 1), stop - 1) + 1;
        std::size_t end = line[begin] == '#' ? begin : std::min(line.find(" #", begin), stop);
        while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\t')) --end;
        return end;
    }
    void append(const std::string& line) {
        if (!m_lines.empty() && !m_lines.back().ends_with('\n')) m_lines.back() += m_line_end;
        m_lines.push_back(line + m_line_end);
    }

    std::vector<std::string> m_lines;
    std::string m_line_end = "\n";
};

class Update {
  public:
    explicit Update(Document& document) : m_document(document) {}

    std::vector<std::string> apply(const std::vector<std::pair<std::string, std::string>>& values) {
        fp16();
        respell("mixed_precision", cased(text_of("mixed_precision"), std::tolower), "no");
        const std::string type = cased(text_of("distributed_type"), std::toupper);
        respell("distributed_type", type == "FALSE" ? "NO" : type, "NO");
        dynamo();
        const bool is_single = text_of("distributed_type") == "NO";
        add("compute_environment", "LOCAL_MACHINE");
        if (is_single) add("num_processes", "1");
        for (const char* key : {"use_cpu", "debug", "enable_cpu_affinity"}) add(key, "false");
        for (const auto& [key, text] : values) change(key, text);
        return std::move(m_changes);
    }

  private:
    [[nodiscard]] std::string text_of(const std::string& key) const {
        return m_document.value(key).value_or("");
    }
    void add(const std::string& key, const std::string& text) {
        if (m_document.value(key)) return;
        m_document.put(key, text, key);
        m_changes.push_back(key + ": " + text + " added");
    }
    void change(const std::string& key, const std::string& text) {
        const std::string old = text_of(key);
        if (old == text) return;
        m_document.put(key, text, key);
        m_changes.push_back(key + ": " + old + " → " + text);
    }
    void fp16() {
        const auto old = m_document.value("fp16");
        if (!old) return;
        const bool has_new = !is_null(text_of("mixed_precision"));
        if (has_new) {
            m_document.remove("fp16");
            m_changes.emplace_back("fp16 removed: mixed_precision says it");
            return;
        }
        m_document.remove("mixed_precision");
        const std::string mode = parse_accelerate_switch(*old).value_or(false) ? "fp16" : "no";
        m_document.put("fp16", mode, "mixed_precision");
        m_changes.push_back("fp16: " + *old + " → mixed_precision: " + mode);
    }
    static bool is_null(const std::string& text) {
        return text.empty() || text == "~" || cased(text, std::tolower) == "null";
    }
    /// Written again also when only the quotes are missing.
    void respell(const std::string& key, std::string text, const std::string& standard) {
        if (is_null(text) || (key == "mixed_precision" && text == "false")) text = standard;
        const std::string before = m_document.text(), old = text_of(key);
        const bool was_there = m_document.value(key).has_value();
        m_document.put(key, text, key);
        if (m_document.text() == before) return;
        m_changes.push_back(was_there ? key + ": " + old + " → '" + text + "'"
                                      : key + ": '" + text + "' added");
    }
    void dynamo() {
        const auto old = m_document.value("dynamo_backend");
        if (!old || m_document.value("dynamo_config")) return;
        const std::string backend = cased(*old, std::toupper);
        if (is_null(*old) || backend == "NO" || backend == "FALSE") {
            m_document.remove("dynamo_backend");
            m_changes.emplace_back("dynamo_backend removed: it was off");
            return;
        }
        m_document.put_dynamo(backend);
        m_changes.push_back("dynamo_backend: " + *old + " → dynamo_config");
    }

    Document& m_document;
    std::vector<std::string> m_changes;
};

constexpr const char* owned[] = {"fp16",          "mixed_precision",     "distributed_type", "dynamo_backend",
                                 "dynamo_config", "compute_environment", "num_processes",    "use_cpu",
                                 "debug",         "enable_cpu_affinity"};

/// Whether every key that isn't ours still has its value and ours read as meant: the proof that editing lines
/// did no harm.
bool is_faithful(std::string_view before, const std::string& after) {
    try {
        const YAML::Node old = YAML::Load(std::string(before)), now = YAML::Load(after);
        for (const auto& entry : old) {
            const auto key = entry.first.as<std::string>();
            if (std::find(std::begin(owned), std::end(owned), key) != std::end(owned)) continue;
            if (!now[key] || YAML::Dump(now[key]) != YAML::Dump(entry.second)) return false;
        }
        for (const char* key : {"mixed_precision", "distributed_type"})
            if (!now[key] || !now[key].IsScalar() || now[key].Scalar().empty()) return false;
        return now["compute_environment"] && now["use_cpu"] && now["debug"] && now["enable_cpu_affinity"] &&
               !now["fp16"];
    } catch (const YAML::Exception&) {
        return false;
    }
}

/// What asks for more than this version trains with is none of an update's business.
Result<void> check(std::string_view text, const std::string& file) {
    const auto read = accelerate_config_text(text, file);
    if (!read && read.error().code != ErrorCode::NotBuilt) return read.error();
    return {};
}

}  // namespace

std::string default_accelerate_config(Precision mode, const std::string& file) {
    if (is_json(file)) {
        return Json{{"compute_environment", "LOCAL_MACHINE"},
                    {"debug", false},
                    {"distributed_type", "NO"},
                    {"enable_cpu_affinity", false},
                    {"mixed_precision", to_string(mode)},
                    {"num_processes", 1},
                    {"use_cpu", false}}
                   .dump(2) +
               "\n";
    }
    const std::string name = mode == Precision::No ? "'no'" : to_string(mode);
    return "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: 'NO'\n"
           "enable_cpu_affinity: false\nmixed_precision: " +
           name + "\nnum_processes: 1\nuse_cpu: false\n";
}

Result<ConfigUpdate> update_accelerate_config(std::string_view text, const std::string& file,
                                              const std::vector<std::pair<std::string, std::string>>& values) {
    if (auto good = check(text, file); !good) return good.error();
    ConfigUpdate update;
    std::unique_ptr<Document> document;
    if (is_json(file))
        document = std::make_unique<JsonDocument>(text);
    else
        document = std::make_unique<YamlDocument>(text);
    update.changes = Update(*document).apply(values);
    update.text = document->text();
    const bool faithful = is_json(file) || is_faithful(text, update.text);
    if (!faithful || !check(update.text, file))
        return Error{ErrorCode::BadPlan, file + ": is written in a form that can't be updated line by line",
                     "write each key on a line of its own, as `accelerate config` does"};
    return update;
}

}  // namespace mantissa
