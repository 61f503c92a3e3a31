#include "runs_ranks.h"

#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "output.h"
#include "record/rank_views.h"
#include "table.h"

namespace mantissa::cli {
namespace {

std::string agreement(const RankViews& views) {
    const auto other = views.first_other_decision();
    if (other) return "the ranks went apart: at step " + std::to_string(*other) + " not all took the same decision";
    return "the same decision on all ranks at each of " + std::to_string(views.compared_steps) + " steps (" + std::to_string(views.skipped) +
           " skipped)";
}

}  // namespace

void print_ranks(const std::filesystem::path& run) {
    const auto views = read_rank_views(run);
    if (!views || views->ranks.empty()) return;
    print(std::to_string(views->ranks.size() + 1) + " ranks: " + agreement(*views));
    Table table;
    table.add_column("  rank");
    for (const char* title : {"steps", "skipped", "samples", "last loss", "incidents"}) table.add_column(title, Table::Align::Right);
    for (const RankView& one : views->ranks) {
        if (!one.problem.empty()) {
            table.add_row({"  " + std::to_string(one.rank), one.problem});
            continue;
        }
        table.add_row({"  " + std::to_string(one.rank), std::to_string(one.steps), std::to_string(one.skipped), std::to_string(one.samples),
                       one.final_loss ? readable_number(*one.final_loss) : "–", std::to_string(one.incidents)});
    }
    print_table(table);
    print("  of its own samples; the run's record holds those of all. Steps of one: mantissa export " + run.filename().string() + " --rank 1");
}

nlohmann::json ranks_json(const std::filesystem::path& run) {
    const auto views = read_rank_views(run);
    if (!views) return {{"error", describe(views.error())}};
    if (views->ranks.empty()) return nullptr;
    const auto or_null = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(nullptr); };
    nlohmann::json list = nlohmann::json::array();
    for (const RankView& one : views->ranks) {
        list.push_back({{"rank", one.rank},
                        {"steps", one.steps},
                        {"skipped", one.skipped},
                        {"samples", one.samples},
                        {"final_loss", number_to_json(one.final_loss)},
                        {"incidents", one.incidents},
                        {"first_other_decision", or_null(one.first_other_decision)},
                        {"problem", one.problem}});
    }
    return {{"count", views->ranks.size() + 1},
            {"compared_steps", views->compared_steps},
            {"skipped", views->skipped},
            {"first_other_decision", or_null(views->first_other_decision())},
            {"others", std::move(list)}};
}

}  // namespace mantissa::cli
