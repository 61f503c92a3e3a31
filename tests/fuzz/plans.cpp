// Plans and Accelerate's configurations: what is read is written and read again to the same plan.
#include <nlohmann/json.hpp>

#include "plan/plan_file.h"
#include "plan/plan_json.h"
#include "plan/plan_sources.h"
#include "plan/validate.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    if (size == 0) return 0;
    const std::string_view text = fuzz::text_of(data + 1, size - 1);
    if (data[0] % 2 == 0) {
        if (const auto plan = read_sourced_plan(text, "plan")) {
            const auto again = read_sourced_plan(to_json(*plan).dump(), "plan");
            if (!again || again->plan != plan->plan) std::abort();
            static_cast<void>(find_plan_issues(plan->plan));
        }
        return 0;
    }
    if (const auto layer = accelerate_config_text(text, data[0] % 4 == 1 ? "default_config.yaml" : "default_config.json"))
        static_cast<void>(resolve_plan({*layer}, PlanUse::Train));
    return 0;
}
