// JSON of a replay's request and answer: what launch hands to a process of its own, and what comes back.
#include <nlohmann/json.hpp>

#include "host/engine_api.h"
#include "plan/plan_json.h"
#include "record/json_fields.h"
#include "record/optional_json.h"

namespace mantissa {
namespace {

using nlohmann::json;
using record_json::Fields;
using record_json::optional_json;

void read_path(Fields& fields, const char* key, std::filesystem::path& path) {
    std::string text;
    fields.read(key, text);
    path = text;
}

void read_variant(Fields& fields, VariantReport& variant) {
    const json* found = fields.find("variant");
    if (found == nullptr) return;
    const Result<VariantReport> read = variant_report_from_json(*found);
    if (read) variant = *read;
    else fields.take(read.error());
}

/// They are all on this machine, and meet in a file.
json ranks_json(const std::optional<RankPlace>& place) {
    if (!place) return nullptr;
    return {{"rank", place->rank}, {"size", place->size}, {"store_file", place->store_file}, {"timeout_ms", place->timeout_ms}};
}

void read_ranks(Fields& fields, std::optional<RankPlace>& place) {
    const json* found = fields.find("ranks");
    if (found == nullptr || found->is_null()) return;
    Fields own(*found, "the replay's request: ranks");
    place.emplace();
    own.read("rank", place->rank);
    own.read("size", place->size);
    own.read("store_file", place->store_file);
    own.read("timeout_ms", place->timeout_ms);
    place->local_rank = place->rank;
    if (const auto read = own.result(); !read) fields.take(read.error());
}

}  // namespace

void watch_birth(ReplayRequest& request, const BirthReport& birth) {
    request.watch_phase = birth.producer.phase;
    request.watch_place = birth.producer.place();
    request.watch_kernel = birth.producer.kernel;
    request.watch_tensor = birth.tensor;
}

json to_json(const ReplayRequest& request) {
    return {{"version", 1},
            {"run", request.run.string()},
            {"plan", to_json(request.plan)},
            {"state", request.state.string()},
            {"step", request.step},
            {"change_from", optional_json(request.change_from)},
            {"watch_ops", request.watch_ops},
            {"watch_place", request.watch_place},
            {"watch_phase", request.watch_phase},
            {"watch_kernel", request.watch_kernel},
            {"watch_tensor", request.watch_tensor},
            {"previous_batch", request.previous_batch},
            {"loss_scale", optional_json(request.loss_scale)},
            {"later_steps", request.later_steps},
            {"keep_state", request.keep_state.string()},
            {"variant", to_json(request.variant)},
            {"ranks", ranks_json(request.ranks)}};
}

Result<ReplayRequest> replay_request_from_json(const json& value) {
    ReplayRequest request;
    Fields fields(value, "the replay's request");
    read_path(fields, "run", request.run);
    read_path(fields, "state", request.state);
    read_path(fields, "keep_state", request.keep_state);
    fields.read("step", request.step);
    if (fields.find("change_from") != nullptr) fields.read("change_from", request.change_from.emplace());
    fields.read("watch_ops", request.watch_ops);
    fields.read("watch_place", request.watch_place);
    fields.read("watch_phase", request.watch_phase);
    fields.read("watch_kernel", request.watch_kernel);
    fields.read("watch_tensor", request.watch_tensor);
    fields.read("previous_batch", request.previous_batch);
    fields.read("loss_scale", request.loss_scale);
    fields.read("later_steps", request.later_steps);
    read_variant(fields, request.variant);
    read_ranks(fields, request.ranks);
    if (const auto read = fields.result(); !read) return read.error();
    const json* plan = fields.find("plan");
    if (plan == nullptr) return Error{ErrorCode::BadPlan, "the replay's request has no plan", ""};
    Result<ReadPlan> read = read_plan_json(plan->dump());
    if (!read) return read.error();
    request.plan = std::move(read->plan);
    return request;
}

// An answer is a report of one variant.
json to_json(const ReplayAnswer& answer) {
    ReplayReport report;
    report.reproduced = answer.reproduced;
    report.reproduced_reason = answer.reproduced_reason;
    report.birth = answer.birth;
    report.ops = answer.ops;
    report.limit = answer.limit;
    report.producer_largest = answer.producer_largest;
    report.start_step = answer.start_step;
    report.variants.push_back(answer.variant);
    return to_json(report);
}

Result<ReplayAnswer> replay_answer_from_json(const json& value) {
    Result<ReplayReport> read = replay_report_from_json(value);
    if (!read) return read.error();
    if (read->variants.size() != 1 || !read->reproduced)
        return Error{ErrorCode::InputOutput, "the replay's answer isn't one of a single variant", "run the replay again"};
    ReplayAnswer answer;
    answer.variant = std::move(read->variants.front());
    answer.reproduced = *read->reproduced;
    answer.reproduced_reason = std::move(read->reproduced_reason);
    answer.birth = std::move(read->birth);
    answer.ops = std::move(read->ops);
    answer.limit = read->limit;
    answer.producer_largest = std::move(read->producer_largest);
    answer.start_step = read->start_step;
    return answer;
}

}  // namespace mantissa
