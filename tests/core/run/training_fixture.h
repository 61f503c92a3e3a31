#pragma once
// Trains a plan through the engine module's own table of functions, in a run folder of its own, and reads the
// recording back.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "host/engine_api.h"
#include "plan/presets.h"
#include "record/run_reader.h"
#include "record/run_summary.h"

extern "C" const mantissa::EngineApi* mantissa_engine_api();

namespace mantissa {

struct Trained {
    RunFolder folder;
    RunEnd end;
    RunRows rows;
    std::map<std::string, std::string> meta;
    nlohmann::json environment;
    RunSummary summary;

    [[nodiscard]] std::vector<std::int64_t> nonfinite_steps() const {
        std::vector<std::int64_t> steps;
        for (const StepRow& row : rows.steps) {
            if (row.nonfinite_loss) steps.push_back(row.step);
        }
        return steps;
    }
    [[nodiscard]] std::vector<IncidentRow> incidents(const std::string& kind) const {
        std::vector<IncidentRow> found;
        for (const IncidentRow& row : rows.incidents) {
            if (row.kind == kind) found.push_back(row);
        }
        return found;
    }
    [[nodiscard]] std::optional<double> last(const std::string& metric,
                                             const std::string& precision = "fp32") const {
        std::optional<double> value;
        for (const EvaluationRow& row : rows.evaluations) {
            if (row.metric == metric && row.precision == precision) value = row.value;
        }
        return value;
    }
};

class Training : public ::testing::Test {
  protected:
    void SetUp() override {
        m_runs = std::filesystem::temp_directory_path() / ("mantissa-run-test-" + std::to_string(getpid()));
        std::filesystem::create_directories(m_runs);
    }
    void TearDown() override { std::filesystem::remove_all(m_runs); }

    static RunPlan preset(const std::string& id, Precision mode,
                          std::optional<std::int64_t> max_steps = std::nullopt) {
        const auto found = load_preset(id);
        EXPECT_TRUE(found.ok());
        const auto layer = preset_layer(*found);
        EXPECT_TRUE(layer.ok());
        const auto sourced = resolve_plan({*layer}, PlanUse::Train);
        EXPECT_TRUE(sourced.ok()) << (sourced.ok() ? "" : describe(sourced.error()));
        RunPlan plan = sourced->plan;
        plan.mixed_precision = mode;
        if (max_steps) {
            plan.training.max_steps = max_steps;
            plan.training.epochs.reset();
        }
        return plan;
    }

    /// Fails the test when the engine gives an Error.
    Trained train(const RunPlan& plan) { return train(plan, m_control); }
    Trained train(const RunPlan& plan, RunControl& control, StepGate* gate = nullptr) {
        const auto folder = create_run_folder(m_runs, plan.name, plan.mixed_precision);
        EXPECT_TRUE(folder.ok());
        if (m_prepare) m_prepare(*folder);
        Trained trained{*folder, {}, {}, {}, {}, {}};
        {
            auto recorder = RunRecorder::open(folder->path);
            EXPECT_TRUE(recorder.ok());
            RunSession session{*folder, **recorder, control, gate};
            const Result<RunEnd> end = mantissa_engine_api()->run(plan, session);
            EXPECT_TRUE(end.ok()) << (end.ok() ? "" : describe(end.error()));
            if (end) trained.end = *end;
        }
        read_back(trained);
        return trained;
    }
    /// The Error that the engine gives; fails the test when it gives none.
    Error refused(const RunPlan& plan) {
        const auto folder = create_run_folder(m_runs, plan.name, plan.mixed_precision);
        auto recorder = RunRecorder::open(folder->path);
        RunSession session{*folder, **recorder, m_control};
        const Result<RunEnd> end = mantissa_engine_api()->run(plan, session);
        EXPECT_FALSE(end.ok());
        return end.ok() ? Error{} : end.error();
    }

    /// The recording of the only run says that it waits.
    [[nodiscard]] bool is_paused() const {
        const auto folders = list_run_folders(m_runs);
        if (!folders || folders->empty()) return false;
        auto reader = RunReader::open(folders->front().path);
        if (!reader) return false;
        const auto rows = (*reader)->read_new();
        return rows && !rows->states.empty() && rows->states.back().state == RunState::Paused;
    }

    RunControl m_control;
    std::filesystem::path m_runs;
    std::function<void(const RunFolder&)> m_prepare;  // called with a new run folder before its run

  private:
    static void read_back(Trained& trained) {
        auto reader = RunReader::open(trained.folder.path);
        ASSERT_TRUE(reader.ok());
        auto rows = (*reader)->read_new();
        ASSERT_TRUE(rows.ok());
        trained.rows = std::move(*rows);
        trained.meta = *(*reader)->meta();
        trained.environment =
            nlohmann::json::parse(std::ifstream(trained.folder.environment()), nullptr, false);
        trained.summary = *summarize_run(trained.folder.path);
    }
};

}  // namespace mantissa
