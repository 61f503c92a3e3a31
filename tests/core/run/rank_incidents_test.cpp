// What one of several processes met is told by all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "../../support/process_threads.h"
#include "base/work_folder.h"
#include "record/replay_report.h"
#include "record/run_reader.h"
#include "run/incident_log.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using Group = std::shared_ptr<ProcessGroup>;

IncidentRow overflow(const char* module, const char* kind = "activation_overflow", const char* severity = "error") {
    return {0, 5, "forward", kind, severity, module, "mul", "", R"({"dtype": "float16"})"};
}

/// Incidents of RUN/run.db: "kind place rank".
std::vector<std::string> told(const std::filesystem::path& run, std::int64_t rank = 0) {
    std::vector<std::string> lines;
    const auto reader = RunReader::open(run, rank);
    const auto rows = reader ? (*reader)->read_new() : Result<RunRows>(reader.error());
    if (!rows) return {describe(rows.error())};
    for (const IncidentRow& row : rows->incidents) {
        const auto detail = nlohmann::json::parse(row.detail_json);
        lines.push_back(row.kind + " " + row.module + " " + (detail.contains("rank") ? detail["rank"].dump() : "-"));
    }
    return lines;
}

/// Each of two processes writes with its own log, then they settle; the texts that settle() gave.
std::array<std::string, 2> settled(const std::filesystem::path& run, bool is_bad, const std::function<void(IncidentLog&, std::int64_t)>& write) {
    std::array<std::string, 2> texts;
    test::run_processes(2, [&](const Group& group) {
        const std::int64_t rank = group->rank();
        const auto recorder = RunRecorder::open(run, rank);
        ASSERT_TRUE(recorder.ok()) << describe(recorder.error());
        RunControl control;
        const RankPlace place{.rank = rank, .size = 2};
        RunSession session{RunFolder{run}, **recorder, control, nullptr, &place};
        const IncidentSources sources;
        IncidentLog log(RunPlan{}, session, sources);
        write(log, rank);
        texts[static_cast<std::size_t>(rank)] = log.settle(Ranks(group), is_bad);
    });
    return texts;
}

TEST(RankIncidents, a_birth_on_rank_1_stands_in_the_runs_record_with_its_rank_and_file) {
    const auto folder = WorkFolder::make("incidents");
    const auto texts = settled(folder->path(), true, [](IncidentLog& log, std::int64_t rank) {
        const IncidentRow row = rank == 1 ? overflow("gate") : IncidentRow{0, 5, "backward", "unknown", "error", "", "", "", "{}"};
        EXPECT_TRUE(log.record(row));
        log.write({row, 2.5, 1024.0, {}, {}});
    });
    EXPECT_THAT(texts, ElementsAre("gate.mul of rank 1", "gate.mul of rank 1"));
    EXPECT_THAT(told(folder->path()), ElementsAre("activation_overflow gate 1"));  // what rank 0 could not name is named
    EXPECT_THAT(told(folder->path(), 1), ElementsAre("activation_overflow gate 1"));
    const auto report = read_incident(incident_folder(folder->path(), 5));
    ASSERT_TRUE(report.ok()) << describe(report.error());
    EXPECT_EQ(report->kind, "activation_overflow");
    EXPECT_EQ(report->rank, 1);
}

TEST(RankIncidents, where_both_met_one_the_first_writes_the_file_and_all_places_are_told_once) {
    const auto folder = WorkFolder::make("incidents");
    settled(folder->path(), true, [](IncidentLog& log, std::int64_t rank) {
        for (const char* module : {"gate", rank == 1 ? "hidden" : "gate"}) log.record(overflow(module));
        log.record(overflow("", "scale_collapse"));  // of all: no rank of its own
        log.write({overflow("gate"), static_cast<double>(rank), {}, {}, {}});
    });
    EXPECT_THAT(told(folder->path()), ElementsAre("activation_overflow gate 0", "scale_collapse  -", "activation_overflow hidden 1"));
    const auto report = read_incident(incident_folder(folder->path(), 5));
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->rank, 0);
    EXPECT_EQ(report->loss, 0.0);
}

TEST(RankIncidents, in_a_good_step_nobody_is_asked_and_each_writes_its_own) {
    const auto folder = WorkFolder::make("incidents");
    const auto texts = settled(folder->path(), false, [](IncidentLog& log, std::int64_t rank) {
        if (rank == 1) log.record(overflow("gate", "activation_overflow", "warning"));
    });
    EXPECT_THAT(texts, ElementsAre("", ""));
    EXPECT_TRUE(told(folder->path()).empty());
    EXPECT_THAT(told(folder->path(), 1), ElementsAre("activation_overflow gate 1"));
}

}  // namespace
}  // namespace mantissa
