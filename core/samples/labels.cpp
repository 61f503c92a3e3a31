#include "samples/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/numbers.h"

namespace mantissa::samples {
namespace {

constexpr std::size_t plainly_classes = 100;  // so many different whole numbers are classes, whatever they are

Error about(const std::string& what, const std::string& hint) { return {ErrorCode::BadPlan, what, hint}; }

}  // namespace

bool LabelCollector::add(std::string_view text) {
    const auto number = m_are_numbers ? parse_double(text) : std::nullopt;
    if (number)
        m_numbers.push_back(*number);
    else
        m_are_numbers = false;
    if (!m_keeps_texts) return m_are_numbers;
    auto place = m_texts.find(text);
    if (place == m_texts.end()) place = m_texts.emplace(text, static_cast<std::int32_t>(m_texts.size())).first;
    m_written.push_back(place->second);
    if (m_texts.size() <= most_classes) return true;
    m_keeps_texts = false;
    return m_are_numbers;
}

void LabelCollector::add(double number) { m_numbers.push_back(number); }

bool LabelCollector::are_whole() const {
    return std::all_of(m_numbers.begin(), m_numbers.end(), [](double number) { return number == std::floor(number) && std::isfinite(number); });
}

void LabelCollector::make_classes(Samples& samples) const {
    SampleFacts& facts = samples.facts;
    if (m_are_numbers) {
        const std::set<double> different(m_numbers.begin(), m_numbers.end());
        std::map<double, std::int64_t> places;
        for (const double number : different) {
            places.emplace(number, static_cast<std::int64_t>(places.size()));
            facts.classes.push_back(to_text(number));
        }
        for (const double number : m_numbers) samples.labels.push_back(places.at(number));
        return;
    }
    // The map is in the texts' order already.
    std::vector<std::int64_t> places(m_texts.size());
    for (const auto& [text, written] : m_texts) {
        places[static_cast<std::size_t>(written)] = static_cast<std::int64_t>(facts.classes.size());
        facts.classes.push_back(text);
    }
    for (const std::int32_t written : m_written) samples.labels.push_back(places[static_cast<std::size_t>(written)]);
}

Result<void> LabelCollector::finish(TargetWish wish, bool is_part, Samples& samples) {
    std::set<double> different;
    if (m_are_numbers) {
        for (const double number : m_numbers) {
            if (different.size() > most_classes) break;
            different.insert(number);
        }
    }
    const bool are_few = m_are_numbers && different.size() <= most_classes;
    const bool is_dense = are_few && !different.empty() && *different.begin() == 0 && *different.rbegin() == static_cast<double>(different.size() - 1);
    const bool look_like_classes = !m_are_numbers || (are_few && are_whole() && (different.size() <= plainly_classes || is_dense));
    if (wish == TargetWish::Values && !m_are_numbers) return about("holds texts, and dataset.target is \"values\"", "use dataset.target classes");
    if (wish == TargetWish::Classes && m_are_numbers && !(are_few && are_whole()))
        return about(are_few ? "holds numbers that aren't whole, and dataset.target is \"classes\"" : "holds more than " + std::to_string(most_classes) + " different numbers, and dataset.target is \"classes\"",
                     "use dataset.target values");
    const bool are_classes = wish == TargetWish::Classes || (wish == TargetWish::Auto && look_like_classes);
    samples.facts.target = are_classes ? SampleTarget::Classes : SampleTarget::Values;
    if (!are_classes) {
        for (const double number : m_numbers) {
            if (!std::isfinite(number) || std::abs(number) > std::numeric_limits<float>::max())
                return about("holds " + to_text(number) + ", which is no finite fp32 number", "leave such samples out");
            samples.values.push_back(static_cast<float>(number));
        }
        return {};
    }
    make_classes(samples);
    if (samples.facts.classes.size() < 2 && !is_part) return about("has one class only, " + samples.facts.classes.front() + ": there is nothing to tell apart", "name another one in dataset.labels");
    return {};
}

}  // namespace mantissa::samples
