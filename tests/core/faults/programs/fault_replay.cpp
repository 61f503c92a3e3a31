#include "fault_replay.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "numerics/birth_finder.h"
#include "numerics/tensor_record.h"
#include "numerics/tensor_reading.h"
#include "record/skip_kind.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using torch::Tensor;

constexpr std::int64_t later_steps = 20;

/// One run of the program in this process.
struct Change {
    std::string id = {};
    Precision mode = Precision::No;
    std::optional<double> fixed_scale = {};
    std::string island = {};
    double rate_factor = 1;
    bool previous_batch = false;
    std::optional<std::int64_t> step = {};  // the step to look at; unset: look for the first fault
    bool from_state = false;                // begins at `step` with the state that "as_was" kept
    std::int64_t later = later_steps;
    fs::path state = {};
};

struct Seen {
    bool loss_bad = false, output_bad = false, gradient_bad = false, weight_bad = false, is_skipped = false, is_fault = false;
    double loss = 0, norm = 0;
    std::optional<double> loss_scale = {};
    [[nodiscard]] bool is_finite() const { return !loss_bad && !output_bad && !gradient_bad && !weight_bad; }
};

AcceleratorOptions options_of(const FaultProgram& program, const Change& change) {
    AcceleratorOptions options{.mixed_precision = change.mode, .device = "cpu"};
    options.loss_scale.initial = program.initial_scale;
    options.loss_scale.growth_interval = program.growth_interval;
    if (change.fixed_scale) options.loss_scale = {.initial = *change.fixed_scale, .growth_factor = 1, .backoff_factor = 1};
    options.on_nonfinite = program.rule;
    options.batch_norm_on_skip = program.batch_norm;
    if (!change.island.empty()) options.fp32_islands = {change.island};
    return options;
}

class Run {
  public:
    Run(const FaultProgram& program, const Change& change)
        : m_program(program), m_accelerator(options_of(program, change)), m_net(program.net()),
          m_model(m_accelerator.prepare(std::shared_ptr<FaultNet>(m_net))),
          m_optimizer(m_accelerator.prepare(program.optimizer(m_net->parameters(), program.rate * change.rate_factor))) {}

    void load(const fs::path& state) { m_accelerator.load_state(state); }
    void save(const fs::path& state) { m_accelerator.save_state(state); }
    void fix_scale(double scale) { m_accelerator.restore_loss_scale({scale, 0}); }

    Seen step(std::int64_t number, std::int64_t batch_number, bool watched) {
        Seen seen;
        m_net->before_step(number);
        const FaultBatch batch = m_program.batch(batch_number);
        std::optional<BirthFinder> finder;
        if (watched) {
            finder.emplace();
            finder->name_tensors_of(*m_net);
            finder->name(batch.features, "features", "data");
        }
        m_optimizer.zero_grad();
        Tensor output, loss;
        {
            const auto amp = m_accelerator.autocast();
            output = m_model(batch.features);
            if (finder) finder->set_phase("loss");
            loss = m_program.loss(output, batch.labels);
        }
        m_accelerator.backward(loss, batch.loss_factor);
        std::optional<BirthReport> of_gradient;
        if (finder) {
            of_gradient = finder->cause_of_gradients(*m_net);
            finder->set_phase("update");
        }
        m_optimizer.step();
        const StepFacts& facts = m_accelerator.last_step();
        seen.loss = loss.item<double>();
        seen.norm = facts.grad_norm;
        seen.loss_scale = facts.loss_scale;
        seen.loss_bad = !std::isfinite(seen.loss);
        seen.output_bad = level_of(read_tensor(output)) != Level::Finite;
        seen.gradient_bad = facts.nonfinite_grads > 0 || facts.found_inf;
        for (const Tensor& weight : m_net->parameters()) seen.weight_bad = seen.weight_bad || level_of(read_tensor(weight)) != Level::Finite;
        seen.is_skipped = facts.skipped;
        const SkipKind kind = m_skips.record({facts.skipped, seen.loss_bad, facts.loss_scale_after});
        const bool only_probes = facts.skipped && kind == SkipKind::Probing;
        seen.is_fault = seen.loss_bad || seen.output_bad || seen.weight_bad || (seen.gradient_bad && !only_probes);
        if (finder) tell(*finder, loss, output, of_gradient);
        return seen;
    }
    [[nodiscard]] const std::optional<BirthReport>& birth() const { return m_birth; }
    /// What tensor records of the last step's gradients say, as far as a rule reads it.
    [[nodiscard]] json gradients() const {
        json told = json::array();
        for (const auto& parameter : m_net->named_parameters()) {
            const TensorStatRow row = tensor_record(parameter.value().grad());
            told.push_back({{"tensor", parameter.key()}, {"elements", row.elements}, {"zero", row.zero}, {"largest", row.largest},
                            {"smallest", row.smallest_nonzero}, {"exponents", std::vector<int>(row.exponents.begin(), row.exponents.end())}});
        }
        return told;
    }

  private:
    // In the order in which a step comes to harm.
    void tell(const BirthFinder& finder, const Tensor& loss, const Tensor& output, const std::optional<BirthReport>& of_gradient) {
        m_birth = finder.cause_of(loss);
        if (!m_birth) m_birth = finder.cause_of(output);
        if (!m_birth) m_birth = of_gradient;
        if (!m_birth) m_birth = finder.cause_of_parameters(*m_net);
        if (!finder.callback_error().empty()) throw std::runtime_error("the finder: " + finder.callback_error());
    }

    const FaultProgram& m_program;
    Accelerator m_accelerator;
    std::shared_ptr<FaultNet> m_net;
    PreparedModel<std::shared_ptr<FaultNet>> m_model;
    PreparedOptimizer m_optimizer;
    SkipClassifier m_skips;
    std::optional<BirthReport> m_birth;
};

json row_of(std::int64_t step, const Seen& seen) {
    return {{"step", step}, {"loss", number_to_json(seen.loss)}, {"norm", number_to_json(seen.norm)},
            {"scale", seen.loss_scale ? json(*seen.loss_scale) : json()}, {"skipped", seen.is_skipped}, {"bad_gradient", seen.gradient_bad}};
}

VariantReport begun(const Change& change, const char* state) {
    VariantReport variant;
    variant.id = change.id;
    variant.mode = change.mode;
    variant.island = change.island;
    variant.state = state;
    return variant;
}

/// What a child tells: {step, rows, variant, birth}.
json run_program(const FaultProgram& program, const Change& change) {
    torch::manual_seed(program.is_repeatable ? 7 : static_cast<std::uint64_t>(::getpid()));
    Run run(program, change);
    json told{{"rows", json::array()}, {"step", nullptr}, {"birth", nullptr}};
    VariantReport variant = begun(change, "done");
    std::int64_t step = 0;
    if (change.from_state) {
        run.load(change.state);
        if (change.fixed_scale) run.fix_scale(*change.fixed_scale);
        step = *change.step;
    }
    const std::int64_t end = change.step ? *change.step + change.later + 1 : program.max_steps;
    for (; step < end; ++step) {
        const bool is_the_step = change.step == step;
        if (is_the_step && change.id == "as_was") run.save(change.state);
        const Seen seen = run.step(step, change.previous_batch && is_the_step ? step - 1 : step, is_the_step);
        told["rows"].push_back(row_of(step, seen));
        if (!change.step) {
            const bool found = program.looks_at ? step == *program.looks_at : seen.is_fault || (program.looks_at_skips && seen.is_skipped);
            if (!found) continue;
            told["step"] = step;
            break;
        }
        if (is_the_step) {
            variant.this_step_finite = seen.is_finite();
            if (!seen.is_finite()) variant.value = seen.loss_bad || seen.output_bad ? (std::isnan(seen.loss) ? "NaN" : "Inf") : "skipped";
            variant.loss = seen.loss;
            if (run.birth()) {
                variant.place = run.birth()->place();
                told["birth"] = to_json(*run.birth());
            }
        } else if (step > *change.step) {
            ++variant.later_steps;
            if (!seen.is_fault) continue;
            variant.later_bad_at = step - *change.step;
            break;
        }
    }
    variant.from_step = change.id == "half_rate" ? 0 : change.step.value_or(0);
    told["variant"] = to_json(variant);
    if (!change.step || step <= *change.step) told["gradients"] = run.gradients();
    return told;
}

/// In a child; an exception comes back as {"error": sentence}.
json in_a_process(const FaultProgram& program, const Change& change) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return {{"error", std::strerror(errno)}};
    std::fflush(nullptr);  // or the child would say again what waits to be written
    const pid_t child = ::fork();
    if (child < 0) return {{"error", std::strerror(errno)}};
    if (child == 0) {
        ::close(ends[0]);
        std::string text;
        try {
            text = run_program(program, change).dump();
        } catch (const std::exception& exception) {
            text = json{{"error", exception.what()}}.dump(-1, ' ', false, json::error_handler_t::replace);
        }
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t wrote = ::write(ends[1], text.data() + sent, text.size() - sent);
            if (wrote <= 0) break;
            sent += static_cast<std::size_t>(wrote);
        }
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    char part[65536];
    for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    json told = json::parse(text, nullptr, false);
    if (told.is_discarded()) return {{"error", "the process of " + change.id + " ended with status " + std::to_string(status)}};
    return told;
}

VariantReport variant_of(const json& told, const Change& change) {
    if (!told.contains("error")) {
        if (auto variant = variant_report_from_json(told.at("variant"))) return *variant;
    }
    VariantReport failed = begun(change, "failed");
    failed.reason = told.value("error", "");
    return failed;
}

std::optional<BirthReport> birth_of(const json& told) {
    if (told.contains("error") || told.at("birth").is_null()) return std::nullopt;
    auto birth = birth_report_from_json(told.at("birth"));
    return birth ? std::optional(*birth) : std::nullopt;
}

std::vector<StepRow> rows_of(const json& told) {
    std::vector<StepRow> rows;
    for (const json& one : told.value("rows", json::array())) {
        StepRow row;
        row.step = one.at("step");
        row.loss = number_from_json(one.at("loss")).value_or(NAN);
        row.grad_norm = number_from_json(one.at("norm")).value_or(NAN);
        if (!one.at("scale").is_null()) row.loss_scale = one.at("scale").get<double>();
        row.nonfinite_loss = !std::isfinite(row.loss);
        row.nonfinite_grads = one.at("bad_gradient").get<bool>() ? 1 : 0;
        row.skipped = one.at("skipped");
        row.skip_kind = row.skipped ? SkipKind::Probing : SkipKind::None;
        row.applied_step = (rows.empty() ? 0 : rows.back().applied_step) + (row.skipped ? 0 : 1);
        rows.push_back(row);
    }
    return rows;
}

std::vector<TensorStatRow> gradient_rows(const json& told, std::int64_t step) {
    std::vector<TensorStatRow> rows;
    for (const json& one : told.value("gradients", json::array())) {
        TensorStatRow row;
        row.step = step;
        row.role = TensorRole::Gradient;
        row.tensor = one.at("tensor");
        row.dtype = "float32";
        row.elements = one.at("elements");
        row.zero = one.at("zero");
        row.largest = number_from_json(one.at("largest")).value_or(0);
        row.smallest_nonzero = number_from_json(one.at("smallest")).value_or(0);
        for (const int byte : one.at("exponents").get<std::vector<int>>()) row.exponents.push_back(static_cast<char>(byte));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string island_of(const BirthReport& birth) {
    const OpReading& op = birth.producer;
    if (op.phase != "forward" && op.phase != "backward") return "";
    return op.module.empty() ? "aten::" + op.op : op.place();
}

std::vector<Change> grid(const FaultProgram& program, const Change& as_was, const std::optional<BirthReport>& birth) {
    Change from_here = as_was;
    from_here.from_state = true;
    std::vector<Change> changes;
    const auto add = [&](const char* id, auto edit) {
        Change change = from_here;
        change.id = id;
        edit(change);
        changes.push_back(change);
    };
    if (program.mode != Precision::No && program.has_control) add("no", [](Change& one) { one.mode = Precision::No; });
    if (program.mode == Precision::Fp16) add("scale_1", [](Change& one) { one.fixed_scale = 1; });
    if (program.mode == Precision::Fp16) add("bf16", [](Change& one) { one.mode = Precision::Bf16; });
    const std::string island = birth ? island_of(*birth) : "";
    if (program.mode != Precision::No && !island.empty()) add("island", [&](Change& one) { one.island = island; });
    if (*as_was.step > 0) {
        add("previous_batch", [](Change& one) { one.previous_batch = true; });
        add("half_rate", [](Change& one) { one.rate_factor = 0.5; one.from_state = false; });
    }
    return changes;
}

bool same_losses(const json& one, const json& other, std::int64_t until) {
    for (std::int64_t i = 0; i <= until; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (one.at("rows").at(at) != other.at("rows").at(at)) return false;
    }
    return true;
}

}  // namespace

Diagnosis diagnose(const FaultProgram& program) {
    Diagnosis result;
    ReplayReport& report = result.report;
    report.mode = program.mode;
    report.state = "done";
    char folder[] = "/tmp/mantissa-fault-XXXXXX";
    if (::mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for a state");
    Change change{.id = "run", .mode = program.mode, .state = fs::path(folder) / "state"};
    const json run = in_a_process(program, change);
    if (run.contains("error") || run.at("step").is_null()) {
        result.problem = run.value("error", "the program met no fault");
        fs::remove_all(folder);
        return result;
    }
    report.step = run.at("step");
    change.id = "as_was";
    change.step = report.step;
    const json again = in_a_process(program, change);
    report.variants.push_back(variant_of(again, change));
    if (again.contains("error")) result.problem = again.at("error");
    report.birth = birth_of(again);
    report.reproduced = result.problem.empty() && same_losses(run, again, report.step) ? Reproduced::Bits : Reproduced::No;
    if (report.birth) report.limit = largest_finite(program.mode);
    for (const Change& one : grid(program, change, report.birth)) {
        VariantReport variant = variant_of(in_a_process(program, one), one);
        variant.same_place = !variant.place.empty() && variant.place == result.place();
        report.variants.push_back(variant);
    }
    report.variants.front().same_place = report.birth.has_value();
    if (program.has_control) {
        Change control{.id = "control", .mode = Precision::No, .step = report.step, .later = 0, .state = change.state};
        const json told = in_a_process(program, control);
        const std::vector<StepRow> rows = rows_of(told);
        result.control = control_health(rows, report.step);
        if (!rows.empty() && rows.back().step == report.step) report.control_finite = std::isfinite(rows.back().loss);
    }
    result.learning_rate = program.rate;
    if (program.mode == Precision::Fp16) result.loss_scale = program.initial_scale;
    fs::remove_all(folder);
    return result;
}

ComparisonEvidence compare(const FaultProgram& program) {
    ComparisonEvidence evidence;
    for (const Precision mode : {Precision::No, Precision::Fp16}) {
        const Change change{.id = "run", .mode = mode, .step = program.max_steps, .later = -1};
        RunEvidence run;
        const json told = in_a_process(program, change);
        run.rows.steps = rows_of(told);
        if (mode == Precision::No) run.rows.tensor_stats = gradient_rows(told, program.max_steps - 1);
        run.summary.mode = run.summary.requested = run.summary.effective = mode;
        run.summary.state = RunState::Finished;
        run.summary.planned_steps = run.summary.steps = static_cast<std::int64_t>(run.rows.steps.size());
        evidence.modes.push_back(mode);
        evidence.runs.push_back(std::move(run));
    }
    return evidence;
}

}  // namespace mantissa
