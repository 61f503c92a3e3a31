#pragma once
// Arguments as Python's call takes them: positional first, then by name; each is used once, and what is left over is an error.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mantissa::golden {

class Arguments {
  public:
    /// `name_and_arguments` is a list: a name, positional values, and in a last object the named ones.
    Arguments(const nlohmann::json& name_and_arguments, const char* what);
    ~Arguments();

    [[nodiscard]] const std::string& name() const { return m_name; }
    /// Names of the positional parameters, in Python's order.
    void parameters(std::vector<std::string> names) { m_parameters = std::move(names); }

    [[nodiscard]] bool has(const std::string& name);  // given and not null
    [[nodiscard]] bool is_null(const std::string& name);    // given as null (Python's None)
    [[nodiscard]] bool is_text(const std::string& name);
    [[nodiscard]] double number(const std::string& name, std::optional<double> standard = {});
    [[nodiscard]] std::int64_t whole(const std::string& name, std::optional<std::int64_t> standard = {});
    [[nodiscard]] bool truth(const std::string& name, bool standard);
    [[nodiscard]] std::string text(const std::string& name, const std::string& standard);
    /// A number, or a list of numbers.
    [[nodiscard]] std::vector<std::int64_t> wholes(const std::string& name, std::vector<std::int64_t> standard = {});
    [[nodiscard]] std::vector<double> numbers(const std::string& name, std::vector<double> standard = {});
    /// All positional values from the first on (Unflatten's shape).
    [[nodiscard]] std::vector<std::int64_t> rest_wholes();
    /// A value that only its default may have ("capturable").
    void only_default(const std::string& name);
    /// Throws when an argument was given that nobody asked for.
    void finish();

    [[noreturn]] void refuse(const std::string& why) const;

  private:
    [[nodiscard]] const nlohmann::json* find(const std::string& name);

    const char* m_what;
    std::string m_name;
    std::unique_ptr<nlohmann::json> m_positional, m_named;
    std::vector<std::string> m_parameters;
    std::set<std::string> m_used;
};

}  // namespace mantissa::golden
