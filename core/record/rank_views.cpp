#include "record/rank_views.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "record/export_steps.h"
#include "record/rank_file.h"
#include "record/run_reader.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

struct Decision {
    bool skipped = false;
    std::optional<double> loss_scale;
    std::int64_t applied_step = 0;
    bool operator==(const Decision&) const = default;
};
using Decisions = std::map<std::int64_t, Decision>;

Decision decision_of(const StepRow& row) { return {row.skipped, row.loss_scale, row.applied_step}; }

RankView read_view(const fs::path& run, std::int64_t rank, const Decisions& main, std::int64_t& last_step) {
    RankView view;
    view.rank = rank;
    const auto read = for_each_step(run, [&](const StepRow& row) {
        ++view.steps;
        view.skipped += row.skipped ? 1 : 0;
        view.samples += row.samples;
        if (row.samples > 0) view.final_loss = row.loss;
        const auto there = main.find(row.step);
        if (there != main.end() && there->second != decision_of(row) && !view.first_other_decision) view.first_other_decision = row.step;
        last_step = row.step;
        return true;
    }, rank);
    if (!read) view.problem = describe(read.error());
    if (auto reader = RunReader::open(run, rank)) {
        if (const auto rows = (*reader)->read_new(0)) view.incidents = static_cast<std::int64_t>(rows->incidents.size());
    }
    return view;
}

}  // namespace

std::optional<std::int64_t> RankViews::first_other_decision() const {
    std::optional<std::int64_t> first;
    for (const RankView& view : ranks) {
        if (view.first_other_decision && (!first || *view.first_other_decision < *first)) first = view.first_other_decision;
    }
    return first;
}

std::vector<std::int64_t> recorded_ranks(const fs::path& run_folder) {
    std::vector<std::int64_t> ranks;
    std::error_code failed;
    for (fs::directory_iterator entry(run_folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        std::int64_t rank = 0;
        if (!name.starts_with("rank-")) continue;
        std::from_chars(name.data() + 5, name.data() + name.size(), rank);
        if (rank > 0 && entry->path() == rank_database(run_folder, rank)) ranks.push_back(rank);
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

Result<RankViews> read_rank_views(const fs::path& run_folder) {
    RankViews views;
    const std::vector<std::int64_t> ranks = recorded_ranks(run_folder);
    if (ranks.empty()) return views;
    Decisions main;
    const auto read = for_each_step(run_folder, [&main](const StepRow& row) {
        main.emplace(row.step, decision_of(row));
        return true;
    });
    if (!read) return read.error();
    std::int64_t last_of_all = main.empty() ? -1 : main.rbegin()->first;
    for (const std::int64_t rank : ranks) {
        std::int64_t last = -1;
        views.ranks.push_back(read_view(run_folder, rank, main, last));
        last_of_all = std::min(last_of_all, last);
    }
    for (const auto& [step, decision] : main) {
        if (step > last_of_all) break;
        ++views.compared_steps;
        views.skipped += decision.skipped ? 1 : 0;
    }
    return views;
}

}  // namespace mantissa
