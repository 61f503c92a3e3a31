// A fake engine module for the tests of launch: trains nothing, but records rows, takes turns, obeys control,
// and misbehaves on demand. The plan's name says how: words "key=value" for all modes, "fp16.key=value" for
// one, "rank1.key=value" for one of several ranks (which don't meet: each runs alone).
//   hang_at=N (never comes back)  kill_at=N (SIGKILL)
//   steps=N  ms=N (time of a step)  crash_at=N (SIGSEGV)  refuse=1  trial=crash|hang|refuse  start_ms=N
//   (before step 0) nonfinite_at=N  throw_at=N  exit_at=N  save=fail
//   reproduced=bits|pattern|no  replay.ID=holds|bad|later|crash|hang|throw (ID: a variant, or island.PLACE)
//   place=MODULE.OP (of the birth; none: nobody knows)
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "host/engine_api.h"
#include "record/meta_keys.h"

namespace {

using namespace mantissa;

/// Of this process; the name of the worker's own variable (launch/worker_environment.h).
std::string rank_prefix() {
    const char* rank = std::getenv("MANTISSA_RANK");
    return "rank" + std::string(rank != nullptr ? rank : "0") + ".";
}

std::string word(const RunPlan& plan, const std::string& key, const std::string& otherwise) {
    std::istringstream words(plan.name);
    std::string found = otherwise;
    for (std::string text; words >> text;) {
        for (const auto& prefix :
             {key + "=", std::string(to_string(plan.mixed_precision)) + "." + key + "=", rank_prefix() + key + "="}) {
            if (text.rfind(prefix, 0) == 0) found = text.substr(prefix.size());
        }
    }
    return found;
}

std::int64_t number(const RunPlan& plan, const std::string& key, std::int64_t otherwise) {
    return std::stoll(word(plan, key, std::to_string(otherwise)));
}

StepRow row(std::int64_t step, bool nonfinite) {
    StepRow result;
    result.step = step;
    result.applied_step = step + 1;
    result.time_ns = now_ns();
    result.loss = nonfinite ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(step + 1);
    result.nonfinite_loss = nonfinite;
    return result;
}

void work(std::int64_t ms) {
    // Work in wall time, so that a single step ends soon on a loaded machine as well.
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// What the recorder was given, kept by another road that survives kill -9 (the page cache): tests compare
/// both.
class Shadow {
  public:
    explicit Shadow(const RunFolder& folder)
        : m_file(::open((folder.path / "shadow").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644)) {}
    ~Shadow() { ::close(m_file); }
    void add(const StepRow& row) const {
        const std::int64_t entry[2]{row.step, row.time_ns};
        if (::write(m_file, entry, sizeof entry) < 0) return;  // a full disk is the recorder's to report
    }

  private:
    int m_file;
};

void misbehave(const RunPlan& plan, std::int64_t step) {
    if (step == number(plan, "crash_at", -1)) {
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
    }
    if (step == number(plan, "exit_at", -1)) ::_exit(77);
    if (step == number(plan, "kill_at", -1)) std::raise(SIGKILL);
    if (step == number(plan, "hang_at", -1)) std::this_thread::sleep_for(std::chrono::hours(1));
}

RunEnd end(RunSession& session, RunState state, const std::string& reason) {
    session.recorder.state(state, reason);
    return {state, reason};
}

Result<RunEnd> run(const RunPlan& plan, RunSession& session) {
    const std::int64_t steps = number(plan, "steps", 100), ms = number(plan, "ms", 1),
                       nonfinite_at = number(plan, "nonfinite_at", -1);
    std::int64_t done = 0;
    const auto on_pause = [&](bool paused) {
        session.recorder.state(paused ? RunState::Paused : RunState::Running, paused ? session.control.asked(ControlCommand::Pause, done) : "");
    };
    const auto on_checkpoint = [&] {
        const bool fails = word(plan, "save", "") == "fail";
        session.recorder.meta(meta::checkpoint, (session.folder.checkpoints() / ("checkpoint_" + std::to_string(done))).string());
        session.recorder.meta(meta::checkpoint_error, fails ? "no space left" : "");
        session.recorder.meta(meta::checkpoint_ns, std::to_string(now_ns()));
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(number(plan, "start_ms", 0)));
    const Shadow shadow(session.folder);
    for (std::int64_t step = 0; step < steps; ++step) {
        done = step;
        const auto next = session.control.at_step_edge(on_pause, on_checkpoint);
        if (next == RunControl::Next::Stop)
            return end(session, RunState::Stopped, "stopped at step " + std::to_string(step));
        if (next == RunControl::Next::Interrupt)
            return end(session, RunState::Interrupted, "interrupted at step " + std::to_string(step));
        if (session.gate != nullptr) session.gate->wait_for_turn(step, session.control);
        if (session.control.is_ending()) {
            --step;
            continue;
        }
        misbehave(plan, step);
        if (const auto level = session.control.watch_level()) session.recorder.meta(meta::watch_level, std::to_string(*level));
        if (step == number(plan, "throw_at", -1))
            return Error{ErrorCode::Internal, "the fake engine throws at step " + std::to_string(step), ""};
        work(ms);
        const StepRow made = row(step, step == nonfinite_at);
        session.recorder.step(made);
        shadow.add(made);
        if (const auto error = session.recorder.error()) return *error;
        if (step == nonfinite_at)
            return end(session, RunState::StoppedNonfinite,
                       "the loss of step " + std::to_string(step) + " is NaN");
    }
    return end(session, RunState::Finished, "");
}

Result<PrecisionChoice> choose_precision(const RunPlan& plan, Precision mode) {
    if (mode == Precision::Fp8 || number(plan, "refuse", 0) != 0) {
        return Error{ErrorCode::UnsupportedPrecision,
                     std::string(to_string(mode)) + " is not supported by the fake device",
                     "choose another mode"};
    }
    return PrecisionChoice{mode, mode, Support::Native, "the fake device has everything"};
}

Result<TrialReport> trial(const RunPlan& plan, Precision mode) {
    RunPlan of_mode = plan;
    of_mode.mixed_precision = mode;
    const std::string kind = word(of_mode, "trial", "runs");
    if (kind == "crash") {
        std::signal(SIGABRT, SIG_DFL);
        std::abort();
    }
    if (kind == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    TrialReport report;
    report.mode = mode;
    report.choice = {mode, mode, Support::Native, "fake"};
    report.runs = kind != "refuse";
    if (!report.runs) report.refusal = "the fake model has an op without a kernel";
    report.memory_peak_bytes = std::stoll(word(of_mode, "peak", "1000"));
    report.step_ms = 1;
    return report;
}

/// A checkpoint as far as the torch-free side looks at one.
void write_state(const ReplayRequest& request) {
    std::filesystem::create_directories(request.keep_state);
    std::ofstream(request.keep_state / "model.safetensors") << "weights";
    std::ofstream(request.keep_state / "state.json")
        << R"({"format": "mantissa-checkpoint", "version": 1, "step": )" << request.step << R"(, "applied_steps": )" << request.step
        << R"(, "epoch": 0, "mixed_precision": "fp16", "loss_scale": {"scale": 65536, "growth_tracker": 0},)"
        << R"( "files": [{"name": "model.safetensors", "bytes": 7}]})";
}

void add_birth(const ReplayRequest& request, ReplayAnswer& answer) {
    const std::string place = word(request.plan, "place", "gate.mul");
    if (place == "none" || !request.watch_ops) return;
    BirthReport birth;
    birth.code = "activation_overflow";
    birth.producer.phase = word(request.plan, "phase", "forward");
    birth.producer.module = place.substr(0, place.rfind('.'));
    birth.producer.op = place.substr(place.rfind('.') + 1);
    answer.birth = birth;
    answer.ops = {birth.producer};
    answer.limit = 65504;
}

Result<ReplayAnswer> replay(const ReplayRequest& request) {
    const std::string& id = request.variant.id;
    std::string kind = word(request.plan, "replay." + id, id == "as_was" ? "bad" : "holds");
    if (id == "island") kind = word(request.plan, "replay.island." + request.variant.island, kind);
    if (kind == "crash") {
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
    }
    if (kind == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    if (kind == "throw") return Error{ErrorCode::Internal, "the fake engine throws in " + id, ""};
    ReplayAnswer answer;
    answer.reproduced = *parse_reproduced(word(request.plan, "reproduced", "bits"));
    if (answer.reproduced == Reproduced::No) answer.reproduced_reason = "the losses differ from step 9 on";
    answer.variant = request.variant;
    answer.variant.state = "done";
    answer.variant.this_step_finite = kind != "bad";
    answer.variant.value = kind == "bad" ? "NaN" : "";
    answer.variant.place = request.state.filename().string() + " lr " + std::to_string(request.plan.training.optimizer.learning_rate);
    answer.variant.later_steps = request.later_steps;
    if (kind != "holds") answer.variant.later_bad_at = kind == "bad" ? 1 : 4;
    const std::string name = request.state.filename().string();
    answer.start_step = name.empty() ? 0 : std::stoll(name.substr(name.rfind('_') + 1));
    add_birth(request, answer);
    if (!request.watch_place.empty())
        for (std::int64_t step = answer.start_step; step <= request.step; ++step)
            answer.producer_largest.push_back({step, 65504.0 * static_cast<double>(step) / static_cast<double>(request.step)});
    if (!request.keep_state.empty()) write_state(request);
    return answer;
}

Result<ProbeReport> probe() {
    return ProbeReport{};
}
Result<std::string> environment(const RunPlan&) {
    return std::string("{}");
}

}  // namespace

#ifndef FAKE_ABI
#define FAKE_ABI mantissa::engine_abi
#endif
#ifndef FAKE_TORCH
#define FAKE_TORCH "2.11.0"
#endif

extern "C" const mantissa::EngineApi* mantissa_engine_api() {
    static const mantissa::EngineApi api{FAKE_ABI, FAKE_TORCH, &run,        &choose_precision,
                                         &trial,   &probe,     &environment, &replay};
    return &api;
}
