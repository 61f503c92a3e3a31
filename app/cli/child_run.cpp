#include "child_run.h"

#include "job_follower.h"
#include "output.h"
#include "progress.h"
#include "resume_lines.h"

namespace mantissa::cli {

Result<int> run_child(PreparedJob job, bool quiet, const std::string& language) {
    const auto style = quiet ? ProgressView::Style::Silent : is_terminal_error() ? ProgressView::Style::Bars : ProgressView::Style::Lines;
    ProgressView view(style);
    for (const std::string& line : resume_lines(job.folder, language)) view.line(line);
    return run_supervised(std::move(job), view);
}

}  // namespace mantissa::cli
