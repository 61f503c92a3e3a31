#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/numbers.h"
#include "output.h"
#include "table.h"

namespace mantissa::cli {
namespace {

constexpr std::int64_t draw_every_ns = 100'000'000;
constexpr std::int64_t report_every_ns = 10'000'000'000;
constexpr std::int64_t bar_width = 24;

std::size_t terminal_columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
    return 80;
}

std::string bar(const RunProgress& run) {
    const bool utf8 = has_utf8_locale();
    const std::int64_t done =
        run.planned_steps > 0
            ? std::clamp<std::int64_t>(run.steps * bar_width / run.planned_steps, 0, bar_width)
            : 0;
    std::string text;
    for (std::int64_t i = 0; i < bar_width; ++i) text += i < done ? (utf8 ? "█" : "#") : (utf8 ? "░" : ".");
    return text;
}

std::string cut_to(const std::string& text, std::size_t columns) {
    std::string result = text;
    while (columns_of(result) > columns) {
        do result.pop_back();
        while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0xC0) == 0x80);
    }
    return result;
}

std::string mode_name(const RunProgress& run) {
    std::string name = to_string(run.mode);
    return name + std::string(name.size() < 4 ? 4 - name.size() : 0, ' ');
}

}  // namespace

std::string progress_text(const RunProgress& run) {
    std::string text =
        std::to_string(run.steps) + (run.planned_steps > 0 ? "/" + std::to_string(run.planned_steps) : "");
    if (run.loss) text += "  loss " + readable_number(*run.loss);
    if (run.metric) text += "  " + run.metric_name + " " + readable_number(*run.metric);
    if (run.skipped > 0) text += "  " + std::to_string(run.skipped) + " skipped";
    if (run.first_nonfinite_step)
        text += "  non-finite from step " + std::to_string(*run.first_nonfinite_step);
    return text;
}

ProgressView::ProgressView(Style style) : m_style(style) {}

ProgressView::~ProgressView() {
    if (m_style == Style::Bars && !m_runs.empty()) draw_bars();
}

void ProgressView::line(const std::string& text) {
    if (m_style == Style::Silent) return;
    clear_bars();
    std::fprintf(stderr, "%s\n", text.c_str());
    if (m_style == Style::Bars && !m_runs.empty()) draw_bars();
}

void ProgressView::update(const std::vector<RunProgress>& runs) {
    if (m_style == Style::Silent) return;
    if (m_style == Style::Lines) return report_events(runs);
    m_runs = runs;
    if (monotonic_ns() - m_last_draw_ns < draw_every_ns) return;
    clear_bars();
    draw_bars();
}

void ProgressView::draw_bars() {
    clear_bars();
    m_last_draw_ns = monotonic_ns();
    const std::size_t columns = terminal_columns() - 1;
    for (const RunProgress& run : m_runs) {
        const std::string text =
            mode_name(run) + "  " + bar(run) + "  " + (run.stall.empty() ? state_words(run.state) : run.stall) + "  " + progress_text(run);
        std::fprintf(stderr, "%s\n", cut_to(text, columns).c_str());
    }
    m_drawn_lines = m_runs.size();
    std::fflush(stderr);
}

void ProgressView::clear_bars() {
    if (m_drawn_lines > 0) std::fprintf(stderr, "\033[%zuA\033[J", m_drawn_lines);
    m_drawn_lines = 0;
}

void ProgressView::report_events(const std::vector<RunProgress>& runs) {
    const bool first = m_runs.size() != runs.size();
    const bool due = !first && monotonic_ns() - m_last_report_ns > report_every_ns;
    if (first || due) m_last_report_ns = monotonic_ns();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunProgress& now = runs[i];
        const RunProgress before = first ? RunProgress{} : m_runs[i];
        const std::string name = to_string(now.mode);
        if (now.first_nonfinite_step && !before.first_nonfinite_step)
            std::fprintf(stderr, "%s: first non-finite value at step %lld\n", name.c_str(),
                         static_cast<long long>(*now.first_nonfinite_step));
        if (now.state != before.state)
            std::fprintf(stderr, "%s: %s%s%s\n", name.c_str(), state_words(now.state).c_str(),
                         is_end_state(now.state) ? (", " + progress_text(now)).c_str() : "",
                         now.reason.empty() ? "" : (": " + now.reason).c_str());
        else if (due && !is_end_state(now.state))
            std::fprintf(stderr, "%s: %s\n", name.c_str(), progress_text(now).c_str());
    }
    m_runs = runs;
}

}  // namespace mantissa::cli
