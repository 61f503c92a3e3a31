#include "resume_lines.h"

#include "judge/resume_text.h"
#include "plan/plan_file.h"
#include "record/run_folder.h"

namespace mantissa::cli {

std::vector<std::string> resume_lines(const RunSummary& run, const std::string& language) {
    if (!run.resumed) return {};
    const auto plan = read_plan_file(RunFolder{run.run_dir}.plan());
    const double initial = plan ? plan->plan.loss_scale.initial : LossScalePlan{}.initial;
    const auto texts = text_catalogue(language);
    if (!texts) return {describe(texts.error())};
    auto lines = resumed_run_texts(**texts, run, initial);
    return lines ? std::move(*lines) : std::vector{describe(lines.error())};
}

std::vector<std::string> resume_lines(const std::filesystem::path& job_folder, const std::string& language) {
    std::error_code ignored;
    if (std::filesystem::exists(job_folder / "comparison.json", ignored)) return {};
    const auto run = summarize_run(job_folder);
    return run ? resume_lines(*run, language) : std::vector<std::string>{};
}

}  // namespace mantissa::cli
