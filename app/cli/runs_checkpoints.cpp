#include "runs_checkpoints.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/numbers.h"
#include "output.h"
#include "record/comparison_record.h"
#include "record/export_steps.h"
#include "table.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t weights_limit_bytes = 1ull << 40;

Json to_json(const CheckpointInfo& info) {
    return {{"path", info.path.string()},
            {"number", info.number},
            {"step", info.step},
            {"applied_steps", info.applied_steps},
            {"epoch", info.epoch},
            {"mixed_precision", to_string(info.mode)},
            {"loss_scale", number_to_json(info.loss_scale)},
            {"growth_tracker", info.growth_tracker ? Json(*info.growth_tracker) : Json(nullptr)},
            {"model", info.model},
            {"dataset", info.dataset},
            {"time_ns", info.time_ns},
            {"bytes", info.bytes}};
}

std::vector<fs::path> runs_of(const fs::path& folder) {
    const auto comparison = read_comparison(folder);
    if (!comparison) return {folder};
    return {comparison->run_dirs.begin(), comparison->run_dirs.end()};
}

void add_rows(Table& table, const CheckpointList& list) {
    for (const CheckpointInfo& info : list.checkpoints)
        table.add_row({info.path.filename().string(), to_string(info.mode), std::to_string(info.step),
                       std::to_string(info.applied_steps), std::to_string(info.epoch),
                       info.loss_scale ? readable_scale(*info.loss_scale) : "–",
                       info.time_ns > 0 ? readable_time(info.time_ns) : "–",
                       readable_bytes(static_cast<std::uint64_t>(info.bytes))});
}

void print_checkpoints(const fs::path& run) {
    const CheckpointList list = list_checkpoints(run);
    print(run.string());
    if (list.checkpoints.empty()) print("  no checkpoints");
    if (!list.checkpoints.empty()) {
        Table table;
        for (const char* title : {"checkpoint", "mode"}) table.add_column(title);
        for (const char* title : {"steps", "applied", "epoch", "loss scale"}) table.add_column(title, Table::Align::Right);
        table.add_column("saved");
        table.add_column("size", Table::Align::Right);
        add_rows(table, list);
        print_table(table);
    }
    for (const std::string& sentence : list.damaged) print("  " + sentence);
}

Result<CheckpointInfo> chosen_checkpoint(const fs::path& run, std::optional<std::int64_t> number) {
    if (!number) return find_checkpoint(run);
    const CheckpointList list = list_checkpoints(run);
    const auto found = std::find_if(list.checkpoints.begin(), list.checkpoints.end(),
                                    [&number](const CheckpointInfo& one) { return one.number == *number; });
    if (found != list.checkpoints.end()) return *found;
    std::string there;
    for (const CheckpointInfo& one : list.checkpoints) there += (there.empty() ? "" : ", ") + std::to_string(one.number);
    return Error{ErrorCode::Usage, run.string() + " has no checkpoint " + std::to_string(*number),
                 there.empty() ? "it has none" : "there are: " + there};
}

}  // namespace

nlohmann::json checkpoints_json(const fs::path& run) {
    const CheckpointList list = list_checkpoints(run);
    Json entries = Json::array();
    for (const CheckpointInfo& info : list.checkpoints) entries.push_back(to_json(info));
    return {{"checkpoints", entries}, {"bytes", list.bytes()}, {"damaged", list.damaged}};
}

std::string checkpoints_line(const fs::path& run) {
    const CheckpointList list = list_checkpoints(run);
    if (list.checkpoints.empty()) return "";
    const std::size_t count = list.checkpoints.size();
    return std::to_string(count) + (count == 1 ? " checkpoint (" : " checkpoints (") +
           readable_bytes(static_cast<std::uint64_t>(list.bytes())) + "), the newest after " +
           std::to_string(list.checkpoints.front().step) + " steps";
}

int show_checkpoints(const fs::path& folder, bool json) {
    Json runs = Json::array();
    for (const fs::path& run : runs_of(folder)) {
        if (!json) {
            print_checkpoints(run);
            continue;
        }
        Json entry = checkpoints_json(run);
        entry["run_dir"] = run.string();
        runs.push_back(std::move(entry));
    }
    if (json) print_json({{"runs", runs}});
    return 0;
}

Result<void> export_weights(const fs::path& run, std::optional<std::int64_t> number, const fs::path& file) {
    std::error_code ignored;
    if (fs::exists(run / "comparison.json", ignored))
        return Error{ErrorCode::Usage, run.filename().string() + " is a comparison: weights belong to one of its runs",
                     "name a run of `mantissa runs checkpoints " + run.filename().string() + "`"};
    const auto checkpoint = chosen_checkpoint(run, number);
    if (!checkpoint) return checkpoint.error();
    const auto weights = read_file(checkpoint->weights(), weights_limit_bytes);
    if (!weights) return weights.error();
    return write_file_atomically(file, *weights);
}

}  // namespace mantissa::cli
