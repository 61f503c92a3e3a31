#include "record/output_maxima.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr float not_seen = std::numeric_limits<float>::quiet_NaN();

/// The double with the shortest text that is this float.
nlohmann::json short_json(float value) {
    if (!std::isfinite(value)) return number_to_json(static_cast<double>(value));
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    double same = value;
    std::from_chars(text.data(), end, same);
    return same;
}

Error damaged() { return {ErrorCode::InputOutput, "the largest values of outputs in the recording are damaged", "the tensor records still hold"}; }

}  // namespace

OutputMaxima::OutputMaxima(std::int64_t every_steps) : m_every(std::max<std::int64_t>(1, every_steps)) {}

bool OutputMaxima::is_full() const {
    const std::size_t places = std::max<std::size_t>(1, m_values.size());
    return m_steps.size() >= std::clamp(most_values / places, least_steps, most_steps);
}

void OutputMaxima::thin_out() {
    m_every *= 2;
    std::vector<std::int64_t> steps;
    std::map<std::string, std::vector<float>> values;
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        if (!is_due(m_steps[i])) continue;
        steps.push_back(m_steps[i]);
        for (const auto& [place, all] : m_values) values[place].push_back(all[i]);
    }
    m_steps = std::move(steps);
    m_values = std::move(values);
}

void OutputMaxima::look(std::int64_t step, const std::string& place, float largest) {
    if (!is_due(step)) return;
    if (m_steps.empty() || m_steps.back() != step) {
        if (is_full()) thin_out();
        if (!is_due(step)) return;
        m_steps.push_back(step);
        for (auto& [name, all] : m_values) all.push_back(not_seen);
    }
    auto& all = m_values[place];
    all.resize(m_steps.size(), not_seen);
    all.back() = largest;
}

std::vector<std::pair<std::int64_t, double>> OutputMaxima::of(const std::string& place) const {
    std::vector<std::pair<std::int64_t, double>> series;
    const auto found = m_values.find(place);
    for (std::size_t i = 0; found != m_values.end() && i < m_steps.size(); ++i) {
        if (!std::isnan(found->second[i])) series.emplace_back(m_steps[i], found->second[i]);
    }
    return series;
}

OutputMaxima OutputMaxima::until(std::int64_t last_step) const {
    OutputMaxima some = *this;
    some.m_steps.erase(std::upper_bound(some.m_steps.begin(), some.m_steps.end(), last_step), some.m_steps.end());
    for (auto& [place, all] : some.m_values) all.resize(some.m_steps.size());
    return some;
}

std::string OutputMaxima::to_text() const {
    nlohmann::json places = nlohmann::json::object();
    for (const auto& [place, all] : m_values) {
        nlohmann::json& list = places[place] = nlohmann::json::array();
        for (const float value : all) list.push_back(short_json(value));
    }
    return nlohmann::json{{"every", m_every}, {"steps", m_steps}, {"places", places}}.dump();
}

Result<OutputMaxima> OutputMaxima::from_text(std::string_view text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("steps") || !json.contains("places")) return damaged();
    const auto &steps = json["steps"], &places = json["places"];
    const auto every = json.value("every", nlohmann::json());
    if (!steps.is_array() || !places.is_object() || !every.is_number_integer()) return damaged();
    OutputMaxima maxima(every.get<std::int64_t>());
    for (const auto& step : steps) {
        if (!step.is_number_integer()) return damaged();
        maxima.m_steps.push_back(step.get<std::int64_t>());
    }
    for (const auto& [place, list] : places.items()) {
        if (!list.is_array() || list.size() != maxima.m_steps.size()) return damaged();
        auto& all = maxima.m_values[place];
        for (const auto& value : list) all.push_back(static_cast<float>(number_from_json(value).value_or(not_seen)));
    }
    return maxima;
}

}  // namespace mantissa
