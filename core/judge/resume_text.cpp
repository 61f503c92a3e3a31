#include "judge/resume_text.h"

#include "base/numbers.h"
#include "plan/resume_rule.h"

namespace mantissa {

Result<std::string> resumed_scale_text(const TextCatalogue& texts, Precision saved, Precision now,
                                       std::optional<double> saved_scale, double initial_scale) {
    TextValues values{{"saved", to_string(saved)}, {"mode", to_string(now)}};
    const double scale = saved_scale.value_or(initial_scale);
    switch (resumed_scale(saved, now)) {
        case ResumedScale::None:
            return texts.fill("resume.scale.none", values);
        case ResumedScale::TakenUp:
            values["scale"] = readable_scale(scale);
            return texts.fill("resume.scale.taken_up", values);
        case ResumedScale::StartsAnew:
            values["scale"] = readable_scale(initial_scale);
            return texts.fill("resume.scale.starts_anew", values);
        case ResumedScale::Dropped:
            values["scale"] = readable_scale(scale);
            return texts.fill("resume.scale.dropped", values);
    }
    return texts.fill("resume.scale.none", values);
}

}  // namespace mantissa
