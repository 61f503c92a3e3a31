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

Result<std::vector<std::string>> resumed_run_texts(const TextCatalogue& texts, const RunSummary& run,
                                                   double initial_scale) {
    std::vector<std::string> lines;
    if (!run.resumed) return lines;
    const ResumedFrom& from = *run.resumed;
    // A checkpoint that was copied out of its run has only its own path to be known by.
    const std::filesystem::path checkpoint = from.checkpoint;
    const bool is_in_a_run = checkpoint.empty() || checkpoint.parent_path().filename() == "checkpoints";
    const std::string name = is_in_a_run ? std::filesystem::path(from.run).filename().string() : checkpoint.string();
    auto where = texts.fill("resume.from", {{"step", std::to_string(from.step)}, {"run", name}});
    if (!where) return where.error();
    auto scale = resumed_scale_text(texts, from.mode, run.mode, from.saved_scale, initial_scale);
    if (!scale) return scale.error();
    lines.push_back(std::move(*where));
    lines.push_back(std::move(*scale));
    return lines;
}

}  // namespace mantissa
