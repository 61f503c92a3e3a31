#include "record/checkpoint_info.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.h"
#include "base/numbers.h"
#include "plan/plan_file.h"
#include "record/json_fields.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr const char* state_name = "state.json";
constexpr const char* folder_prefix = "checkpoint_";
constexpr std::int64_t newest_version = 1;

Error damaged(const fs::path& checkpoint, const std::string& why) {
    return {ErrorCode::InputOutput, "the checkpoint " + checkpoint.string() + " is damaged: " + why,
            "go on from an earlier one"};
}

std::optional<std::int64_t> number_of(const fs::path& folder) {
    const std::string name = folder.filename().string();
    if (!name.starts_with(folder_prefix)) return std::nullopt;
    const auto number = parse_int(name.substr(std::string_view(folder_prefix).size()));
    return number && *number >= 0 ? number : std::nullopt;
}

// A name of the list leads nowhere but into the folder itself.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

Result<void> check_format(const fs::path& checkpoint, const nlohmann::json& state) {
    std::string format;
    std::int64_t version = 0;
    record_json::Fields fields(state, state_name);
    fields.read("format", format);
    fields.read("version", version);
    if (const auto read = fields.result(); !read) return damaged(checkpoint, read.error().message);
    if (format != "mantissa-checkpoint")
        return damaged(checkpoint, "state.json doesn't say \"mantissa-checkpoint\" as its format");
    if (version < 1) return damaged(checkpoint, "state.json has no version");
    if (version > newest_version)
        return Error{ErrorCode::InputOutput,
                     "the checkpoint " + checkpoint.string() + " has version " + std::to_string(version) +
                         ", this program reads up to " + std::to_string(newest_version),
                     "use the program that wrote it, or a newer one"};
    return {};
}

Result<void> read_state(const nlohmann::json& state, CheckpointInfo& info) {
    record_json::Fields fields(state, state_name);
    for (const char* key : {"step", "mixed_precision", "files"})
        if (fields.find(key) == nullptr) fields.fail(key, "there");
    fields.read("step", info.step);
    fields.read("applied_steps", info.applied_steps);
    fields.read("epoch", info.epoch);
    fields.read("mixed_precision", info.mode);
    fields.read("time_ns", info.time_ns);
    fields.read("program_version", info.program_version);
    fields.read_object("loss_scale", [&info](record_json::Fields& scale) {
        std::int64_t tracker = -1;
        scale.read("scale", info.loss_scale);
        scale.read("growth_tracker", tracker);
        if (!info.loss_scale || !std::isfinite(*info.loss_scale) || *info.loss_scale <= 0)
            scale.fail("scale", "a finite number above 0");
        if (tracker < 0) scale.fail("growth_tracker", "a whole number from 0 up");
        info.growth_tracker = tracker;
    });
    if (info.step < 0) fields.fail("step", "a whole number from 0 up");
    if (info.applied_steps < 0 || info.applied_steps > info.step)
        fields.fail("applied_steps", "from 0 to the number of steps");
    if (info.epoch < 0) fields.fail("epoch", "a whole number from 0 up");
    return fields.result();
}

Result<void> check_files(const fs::path& checkpoint, const nlohmann::json& state) {
    Result<void> checked;
    record_json::Fields fields(state, state_name);
    fields.read_objects("files", [&](record_json::Fields& file) {
        std::string name;
        std::int64_t bytes = -1;
        file.read("name", name);
        file.read("bytes", bytes);
        if (!is_plain_name(name)) return file.fail("name", "the name of a file in the folder");
        std::error_code failed;
        const auto there = fs::file_size(checkpoint / name, failed);
        if (!checked) return;
        if (failed)
            checked = damaged(checkpoint, name + " is missing");
        else if (bytes < 0 || there != static_cast<std::uintmax_t>(bytes))
            checked = damaged(checkpoint, name + " has " + std::to_string(there) + " bytes instead of " +
                                              std::to_string(bytes));
    });
    if (const auto read = fields.result(); !read) return damaged(checkpoint, read.error().message);
    return checked;
}

std::int64_t bytes_in(const fs::path& folder) {
    std::int64_t bytes = 0;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored)) bytes += static_cast<std::int64_t>(entry->file_size(ignored));
    }
    return bytes;
}

}  // namespace

// RUN/checkpoints/checkpoint_<n>, or a state that an incident keeps: RUN/incidents/step_<n>/state_<m>.
fs::path CheckpointInfo::run() const {
    const fs::path above = path.parent_path().parent_path();
    return above.filename() == "incidents" ? above.parent_path() : above;
}

Result<CheckpointInfo> read_checkpoint_info(const fs::path& checkpoint) {
    std::error_code failed;
    if (!fs::is_directory(checkpoint, failed))
        return Error{ErrorCode::InputOutput, "there is no checkpoint folder " + checkpoint.string(), ""};
    if (!fs::exists(checkpoint / state_name, failed))
        return Error{ErrorCode::InputOutput, checkpoint.string() + " is no checkpoint: it has no state.json",
                     "a checkpoint is a folder that a run or save_state() has written to its end"};
    const auto text = read_file(checkpoint / state_name);
    if (!text) return text.error();
    const auto state = record_json::parse(*text, (checkpoint / state_name).string());
    if (!state) return state.error();
    if (const auto format = check_format(checkpoint, *state); !format) return format.error();
    CheckpointInfo info;
    info.path = checkpoint;
    if (const auto read = read_state(*state, info); !read) return damaged(checkpoint, read.error().message);
    if (const auto files = check_files(checkpoint, *state); !files) return files.error();
    info.number = number_of(checkpoint).value_or(info.step);
    if (fs::exists(info.plan(), failed)) {
        const auto plan = read_plan_file(info.plan());
        if (!plan) return damaged(checkpoint, plan.error().message);
        const RunPlan& saved = plan->plan;
        info.model = saved.model.file.empty() ? saved.model.name : saved.model.file;
        info.dataset = saved.dataset.file.empty() ? saved.dataset.name : saved.dataset.file;
    }
    info.bytes = bytes_in(checkpoint);
    return info;
}

std::int64_t CheckpointList::bytes() const {
    std::int64_t sum = 0;
    for (const CheckpointInfo& one : checkpoints) sum += one.bytes;
    return sum;
}

CheckpointList list_checkpoints(const fs::path& folder) {
    CheckpointList list;
    std::error_code failed;
    for (fs::directory_iterator entry(folder / "checkpoints", failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code ignored;
        if (!number_of(entry->path()) || !fs::exists(entry->path() / state_name, ignored)) continue;
        auto info = read_checkpoint_info(entry->path());
        if (info)
            list.checkpoints.push_back(std::move(*info));
        else
            list.damaged.push_back(info.error().message);
    }
    std::sort(list.checkpoints.begin(), list.checkpoints.end(),
              [](const CheckpointInfo& a, const CheckpointInfo& b) { return a.number > b.number; });
    std::sort(list.damaged.begin(), list.damaged.end());
    return list;
}

namespace {

std::vector<std::string> damaged_after(const fs::path& run, std::int64_t number) {
    std::vector<std::string> sentences;
    std::error_code failed;
    for (fs::directory_iterator entry(run / "checkpoints", failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const auto here = number_of(entry->path());
        std::error_code ignored;
        if (!here || *here <= number || !fs::exists(entry->path() / state_name, ignored)) continue;
        if (const auto info = read_checkpoint_info(entry->path()); !info)
            sentences.push_back(info.error().message);
    }
    std::sort(sentences.begin(), sentences.end());
    return sentences;
}

}  // namespace

Result<CheckpointInfo> find_checkpoint(const fs::path& place) {
    std::error_code failed;
    if (fs::exists(place / state_name, failed)) return read_checkpoint_info(place);
    if (!fs::is_directory(place, failed))
        return Error{ErrorCode::InputOutput, "there is no run or checkpoint " + place.string(), ""};
    CheckpointList list = list_checkpoints(place);
    if (!list.checkpoints.empty()) {
        CheckpointInfo newest = std::move(list.checkpoints.front());
        newest.passed_over = damaged_after(place, newest.number);
        return newest;
    }
    if (!list.damaged.empty()) return Error{ErrorCode::InputOutput, list.damaged.front(), ""};
    return Error{ErrorCode::InputOutput, place.string() + " holds no checkpoint",
                 "runs keep their end state unless checkpoint.at_end is false; `mantissa runs checkpoints RUN` lists them"};
}

}  // namespace mantissa
