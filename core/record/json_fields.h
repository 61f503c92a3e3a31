#pragma once
// Reads fields of a JSON object into values. A missing field keeps the value that is there (older files), an
// unknown one is ignored (newer files), a wrong type is an error that names the field. For core/record and
// core/host.
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa::record_json {

/// Parses a text; the error names `source` and the byte where it stops making sense.
Result<nlohmann::json> parse(const std::string& text, const std::string& source);
/// JSON text with a newline at its end; bytes that aren't UTF-8 are replaced, never thrown about.
std::string dump(const nlohmann::json& json);

class Fields {
  public:
    /// `where` names the object in errors: "decision", "verdicts[2]".
    Fields(const nlohmann::json& object, std::string where);

    void read(const char* key, std::string& value);
    void read(const char* key, bool& value);
    void read(const char* key, std::int64_t& value);
    void read(const char* key, double& value);
    void read(const char* key, std::optional<double>& value);
    void read(const char* key, Precision& value);
    void read(const char* key, std::optional<Precision>& value);
    void read(const char* key, Support& value);
    void read(const char* key, std::vector<std::string>& value);
    void read(const char* key, std::map<std::string, std::string>& value);
    /// Calls `each` with the fields of every object of a list.
    void read_objects(const char* key, const std::function<void(Fields&)>& each);
    void read_object(const char* key, const std::function<void(Fields&)>& one);
    [[nodiscard]] const nlohmann::json* find(const char* key) const;  // nothing when missing or null

    void fail(const char* key, const std::string& expected);
    /// Takes over the first error of a nested reading.
    void take(const Result<void>& nested);
    [[nodiscard]] Result<void> result() const;

  private:
    [[nodiscard]] std::string place(const char* key) const;
    const nlohmann::json& m_object;
    std::string m_where;
    std::optional<Error> m_error;
};

}  // namespace mantissa::record_json
