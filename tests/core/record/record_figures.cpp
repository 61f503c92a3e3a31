// Prints what recording, reading and decimating cost on this machine. Usage: record_figures [FOLDER]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "record/decimation.h"
#include "record/run_reader.h"
#include "record/run_recorder.h"
#include "record/run_summary.h"

namespace {

using namespace mantissa;

StepRow row_of(std::int64_t step) {
    StepRow row;
    row.step = step;
    row.applied_step = step + 1;
    row.time_ns = now_ns();
    row.loss = 1.0 / (1.0 + static_cast<double>(step));
    row.grad_norm = 0.1 * static_cast<double>(step);
    row.loss_scale = 65536.0;
    row.growth_tracker = step % 2000;
    row.step_ns = 500'000;
    return row;
}

double seconds_since(std::int64_t start) {
    return static_cast<double>(monotonic_ns() - start) / 1e9;
}

void fast_as_possible(const std::filesystem::path& folder, std::int64_t count) {
    auto recorder = RunRecorder::open(folder);
    if (!recorder) return;
    const std::int64_t start = monotonic_ns();
    for (std::int64_t step = 0; step < count; ++step) (*recorder)->step(row_of(step));
    if (!(*recorder)->flush()) return;
    std::printf("written: %.0f rows/s\n", static_cast<double>(count) / seconds_since(start));
}

void pace_of_training(const std::filesystem::path& folder) {
    auto recorder = RunRecorder::open(folder);
    if (!recorder) return;
    std::vector<std::int64_t> costs;
    for (std::int64_t step = 0; step < 3'000; ++step) {
        const StepRow row = row_of(step);
        const std::int64_t start = monotonic_ns();
        (*recorder)->step(row);
        const bool failed = (*recorder)->error().has_value();
        costs.push_back(monotonic_ns() - start);
        if (failed) return;
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    std::sort(costs.begin(), costs.end());
    std::printf("push at about 1,500 steps/s: median %.2f us, 99 %% %.2f us, longest %.1f us\n",
                static_cast<double>(costs[costs.size() / 2]) / 1e3,
                static_cast<double>(costs[costs.size() * 99 / 100]) / 1e3,
                static_cast<double>(costs.back()) / 1e3);
}

void read_back(const std::filesystem::path& folder) {
    auto reader = RunReader::open(folder);
    if (!reader) return;
    std::int64_t start = monotonic_ns();
    std::size_t total = 0;
    for (std::size_t got = 1; got > 0; total += got) got = (*reader)->read_new()->steps.size();
    std::printf("read: %.0f rows/s\n", static_cast<double>(total) / seconds_since(start));
    start = monotonic_ns();
    for (int poll = 0; poll < 1'000; ++poll) static_cast<void>((*reader)->read_new()->empty());
    std::printf("poll without news: %.1f us\n", seconds_since(start) * 1e3);
    start = monotonic_ns();
    const auto summary = summarize_run(folder);
    std::printf("summary of %zu steps: %.0f ms\n", total, summary ? seconds_since(start) * 1e3 : -1.0);
}

void decimate_million(bool with_bad) {
    std::vector<double> x(1'000'000), y(x.size());
    for (std::size_t at = 0; at < x.size(); ++at) {
        x[at] = static_cast<double>(at);
        y[at] = std::sin(static_cast<double>(at) * 1e-3);
        if (with_bad && at % 3 == 0) y[at] = NAN;
    }
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
        const std::int64_t start = monotonic_ns();
        const auto line = decimate(x, y, 0, 999'999, 1'600);
        if (line.columns.empty()) return;
        best = std::min(best, seconds_since(start) * 1e3);
    }
    std::printf("decimation of 1 M points to 1,600 columns%s: %.2f ms\n", with_bad ? ", every third NaN" : "",
                best);
}

}  // namespace

int main(int count, char** arguments) {
    const std::filesystem::path base = count > 1 ? arguments[1] : std::filesystem::temp_directory_path();
    const auto folder = base / ("mantissa-figures-" + std::to_string(monotonic_ns()));
    std::filesystem::create_directories(folder / "fast");
    std::filesystem::create_directories(folder / "paced");
    fast_as_possible(folder / "fast", 500'000);
    read_back(folder / "fast");
    pace_of_training(folder / "paced");
    decimate_million(false);
    decimate_million(true);
    std::filesystem::remove_all(folder);
    return 0;
}
