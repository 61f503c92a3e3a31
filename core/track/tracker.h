#pragma once
// Where a training program's values go: TensorBoard, a run folder that the window follows, or a class of one's own. Torch-free; the
// Accelerator calls trackers on the main process only, on the thread that trains.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/result.h"
#include "record/rows.h"

namespace mantissa {

/// A number, a text, or several numbers under one name.
class TrackedValue {
  public:
    using Numbers = std::map<std::string, double>;
    template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
    TrackedValue(Number number) : m_value(static_cast<double>(number)) {}
    TrackedValue(const char* text) : m_value(std::string(text)) {}
    TrackedValue(std::string text) : m_value(std::move(text)) {}
    TrackedValue(Numbers numbers) : m_value(std::move(numbers)) {}

    [[nodiscard]] const double* number() const { return std::get_if<double>(&m_value); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&m_value); }
    [[nodiscard]] const Numbers* numbers() const { return std::get_if<Numbers>(&m_value); }

  private:
    std::variant<double, std::string, Numbers> m_value;
};
using TrackedValues = std::map<std::string, TrackedValue>;

/// A hyper-parameter.
class ConfigValue {
  public:
    template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>>>
    ConfigValue(Number number) : m_value(static_cast<double>(number)), m_is_whole(std::is_integral_v<Number>) {}
    ConfigValue(bool truth) : m_value(truth) {}
    ConfigValue(const char* text) : m_value(std::string(text)) {}
    ConfigValue(std::string text) : m_value(std::move(text)) {}

    [[nodiscard]] const double* number() const { return std::get_if<double>(&m_value); }
    [[nodiscard]] bool is_whole() const { return m_is_whole; }
    [[nodiscard]] const bool* truth() const { return std::get_if<bool>(&m_value); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&m_value); }

  private:
    std::variant<double, bool, std::string> m_value;
    bool m_is_whole = false;
};
using TrackerConfig = std::map<std::string, ConfigValue>;

struct TrackerStart {
    std::string project;
    TrackerConfig config;
    std::filesystem::path logging_dir;         // empty: none was given
    std::map<std::string, std::string> facts;  // about the program: keys of record/meta_keys.h
};

/// One attempt of the optimizer, told without being asked.
struct TrackedAttempt {
    StepRow row;
    std::vector<double> micro_batch_losses;
};

class Tracker {
  public:
    virtual ~Tracker() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual bool needs_logging_dir() const { return false; }
    virtual Result<void> start(const TrackerStart& start) = 0;
    /// Without a step: the values belong to no step in particular.
    virtual Result<void> log(const TrackedValues& values, std::optional<std::int64_t> step) = 0;
    virtual Result<void> attempt([[maybe_unused]] const TrackedAttempt& attempt) { return {}; }
    virtual Result<void> finish() = 0;
};

/// Names that make_tracker() knows.
[[nodiscard]] const std::vector<std::string>& tracker_names();
/// One of ours by its name; an unknown one is an error with the list.
[[nodiscard]] Result<std::shared_ptr<Tracker>> make_tracker(const std::string& name);

}  // namespace mantissa
