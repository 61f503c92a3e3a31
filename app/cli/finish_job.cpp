#include "finish_job.h"

#include "judge/html_report.h"
#include "judge/judge.h"
#include "record/comparison_record.h"

namespace mantissa::cli {

Result<void> finish_job(const std::filesystem::path& job_folder, const std::string& language) {
    std::error_code ignored;
    if (std::filesystem::exists(job_folder / "comparison.json", ignored)) {
        auto record = judge_comparison(job_folder, language);
        if (!record) return record.error();
        if (auto written = write_comparison(job_folder, *record); !written) return written;
    } else {
        auto judged = judge_run(job_folder, language);
        if (!judged) return judged.error();
        if (auto written = write_verdicts(job_folder, judged->verdicts); !written) return written;
    }
    auto report = write_html_report(job_folder, language);
    return report ? Result<void>() : Result<void>(report.error());
}

}  // namespace mantissa::cli
