#include "record/replica.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "record/json_fields.h"

namespace mantissa {

namespace fs = std::filesystem;

namespace {

// Odd, and another than the one between epochs (data/sample_order.h): no repetition shifts the control's epochs by a few.
constexpr std::uint64_t between_repetitions = 0xD1B54A32D192ED03ull;

fs::path file_of(const fs::path& run_folder) { return run_folder / "replica.json"; }

using record_json::Fields;

Replica replica_from(Fields& fields) {
    Replica replica;
    std::string role;
    fields.read("role", role);
    fields.read("number", replica.number);
    for (const ReplicaRole one : {ReplicaRole::Repetition, ReplicaRole::Rounding}) {
        if (role == to_string(one)) replica.role = one;
    }
    if (!replica.is_replica() || replica.number < 1) fields.fail("role", "repetition or rounding, with a number from 1");
    return replica;
}

}  // namespace

const char* to_string(ReplicaRole role) {
    switch (role) {
        case ReplicaRole::None:
            return "";
        case ReplicaRole::Repetition:
            return "repetition";
        case ReplicaRole::Rounding:
            return "rounding";
    }
    return "";
}

std::string Replica::label() const { return is_replica() ? std::string(to_string(role)) + " " + std::to_string(number) : ""; }

std::uint64_t Replica::order_seed(std::uint64_t seed) const {
    return role == ReplicaRole::Repetition ? seed + static_cast<std::uint64_t>(number) * between_repetitions : seed;
}

std::vector<Replica> planned_replicas(std::int64_t repetitions, std::int64_t rounding) {
    std::vector<Replica> all;
    for (std::int64_t i = 1; i <= repetitions; ++i) all.push_back({ReplicaRole::Repetition, i});
    for (std::int64_t i = 1; i <= rounding; ++i) all.push_back({ReplicaRole::Rounding, i});
    return all;
}

Result<void> write_replica(const fs::path& run_folder, const Replica& replica) {
    return write_file_atomically(file_of(run_folder),
                                 nlohmann::json{{"version", 1}, {"role", to_string(replica.role)}, {"number", replica.number}}.dump(1) +
                                     "\n");
}

Result<Replica> read_replica(const fs::path& run_folder) {
    std::error_code ignored;
    if (!fs::exists(file_of(run_folder), ignored)) return Replica{};
    const auto text = read_file(file_of(run_folder));
    if (!text) return text.error();
    const auto json = record_json::parse(*text, file_of(run_folder).string());
    if (!json) return json.error();
    Fields fields(*json, file_of(run_folder).string());
    const Replica replica = replica_from(fields);
    if (auto result = fields.result(); !result) return result.error();
    return replica;
}

Result<void> write_replica_runs(const fs::path& comparison, const std::vector<ReplicaRun>& runs) {
    const fs::path file = comparison / "comparison.json";
    const auto text = read_file(file);
    if (!text) return text.error();
    auto json = record_json::parse(*text, file.string());
    if (!json) return json.error();
    auto list = nlohmann::json::array();
    for (const ReplicaRun& run : runs) {
        list.push_back(
            {{"role", to_string(run.replica.role)}, {"number", run.replica.number}, {"run_dir", run.run_dir.string()}});
    }
    (*json)["replicas"] = std::move(list);
    return write_file_atomically(file, record_json::dump(*json));
}

Result<std::vector<ReplicaRun>> read_replica_runs(const fs::path& comparison) {
    const fs::path file = comparison / "comparison.json";
    const auto text = read_file(file);
    if (!text) return text.error();
    const auto json = record_json::parse(*text, file.string());
    if (!json) return json.error();
    std::vector<ReplicaRun> runs;
    Fields fields(*json, file.string());
    fields.read_objects("replicas", [&](Fields& one) {
        std::string folder;
        one.read("run_dir", folder);
        runs.push_back({replica_from(one), folder});
    });
    if (auto result = fields.result(); !result) return result.error();
    std::error_code failure;
    for (ReplicaRun& run : runs) {
        if (fs::exists(run.run_dir, failure)) continue;
        const fs::path beside = fs::weakly_canonical(comparison / ".." / "..", failure) / run.run_dir.filename();
        if (fs::exists(beside, failure)) run.run_dir = beside;
    }
    return runs;
}

}  // namespace mantissa
