#include "run/answer_of_all.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/collectives.h"
#include "numerics/op_names.h"

namespace mantissa {
namespace {

bool is_larger(double a, double b) { return std::isnan(a) || std::fabs(a) > std::fabs(b); }

std::vector<StepValue> largest_of(const std::vector<ReplayAnswer>& all) {
    std::map<std::int64_t, double> values;
    for (const ReplayAnswer& one : all) {
        for (const StepValue& at : one.producer_largest) {
            const auto [place, is_new] = values.try_emplace(at.step, at.value);
            if (!is_new && !std::isnan(place->second) && is_larger(at.value, place->second)) place->second = at.value;
        }
    }
    std::vector<StepValue> joined;
    for (const auto& [step, value] : values) joined.push_back({step, value});
    return joined;
}

}  // namespace

ReplayAnswer joined(std::vector<ReplayAnswer> all) {
    const auto has_birth = [](const ReplayAnswer& one) { return one.birth.has_value(); };
    // Where the gradients of all are added up, every process comes by the bad value of one. Whether it is seen there depends on how far the
    // sum had come when it was looked at, so such a birth is told only where nobody has another.
    const auto has_own_birth = [](const ReplayAnswer& one) { return one.birth && !is_exchange(one.birth->producer.kernel); };
    const auto has_own_place = [](const ReplayAnswer& one) { return !one.birth && !one.variant.place.empty(); };
    const auto is_bad = [](const ReplayAnswer& one) { return !one.variant.this_step_finite.value_or(true); };
    auto teller = std::find_if(all.begin(), all.end(), has_own_birth);
    if (teller == all.end()) teller = std::find_if(all.begin(), all.end(), has_own_place);
    if (teller == all.end()) teller = std::find_if(all.begin(), all.end(), has_birth);
    if (teller == all.end()) teller = std::find_if(all.begin(), all.end(), is_bad);
    std::vector<StepValue> largest = largest_of(all);
    const bool is_any_bad = std::any_of(all.begin(), all.end(), is_bad);
    ReplayAnswer answer = all.front();
    answer.producer_largest = std::move(largest);
    if (teller == all.end()) return answer;
    answer.birth = teller->birth;
    if (answer.birth) answer.birth->rank = teller - all.begin();
    answer.ops = teller->ops;
    answer.limit = teller->limit;
    VariantReport& variant = answer.variant;
    variant.this_step_finite = !is_any_bad;
    variant.value = teller->variant.value;
    variant.place = teller->variant.place;
    variant.same_place = teller->variant.same_place;
    return answer;
}

Result<ReplayAnswer> answer_of_all(const Ranks& ranks, const ReplayAnswer& own) {
    const std::string text = to_json(own).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::vector<ReplayAnswer> all;
    for (const std::string& of_rank : collectives::gather_bytes(ranks.group().get(), text)) {
        Result<ReplayAnswer> one = replay_answer_from_json(nlohmann::json::parse(of_rank, nullptr, false));
        if (!one) return one.error();
        all.push_back(std::move(*one));
    }
    return joined(std::move(all));
}

}  // namespace mantissa
