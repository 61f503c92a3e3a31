// The recording of a run whose cells hold anything: SQLite gives every cell the type that the file says. The input is a list of edits
// (table, column, row, kind of value, value) made to a small whole recording; then one of those that read recordings reads it: rows with
// summary and ranks, exports, forecast, verdicts, the report. The first byte says which, and which file is edited.
#include <sqlite3.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/files.h"
#include "judge/forecast.h"
#include "judge/html_report.h"
#include "judge/judge.h"
#include "record/exponent_histogram.h"
#include "record/export_rows.h"
#include "record/json_fields.h"
#include "record/meta_keys.h"
#include "record/output_maxima.h"
#include "record/rank_views.h"
#include "record/run_recorder.h"
#include "tests/fuzz/fuzz_file.h"

namespace {
using namespace mantissa;
namespace fs = std::filesystem;

struct Table {
    std::string name;
    std::vector<std::string> columns;
};
struct Recording {
    fs::path run;
    std::string database, rank;  // bytes of run.db and of rank-1.db
    std::vector<Table> tables;
};

sqlite3* open_database(const fs::path& file) {
    sqlite3* database = nullptr;
    if (sqlite3_open(file.c_str(), &database) != SQLITE_OK) std::abort();
    return database;
}

void record_meta(RunRecorder& recorder) {
    const std::vector<std::pair<const char*, const char*>> values{
        {meta::mode, "no"}, {meta::requested, "no"}, {meta::effective, "no"}, {meta::support, "native"}, {meta::support_reason, ""},
        {meta::device, "cpu"}, {meta::device_name, "two cores"}, {meta::name, "run"}, {meta::model, "gated"}, {meta::dataset, "digits"},
        {meta::started_ns, "1800000000000000000"}, {meta::ranks, "2"}, {meta::planned_steps, "12"}, {meta::batch_size, "32"},
        {meta::training_samples, "1437"}, {meta::validation_samples, "360"}, {meta::metric, "accuracy"}, {meta::on_nonfinite, "stop"},
        {meta::resumed_step, "0"}, {meta::resumed_applied, "0"}, {meta::resumed_mode, "fp16"}, {meta::resumed_scale, "dropped"},
        {meta::resumed_saved_scale, "65536"}, {meta::resumed_checkpoint, "c"}, {meta::resumed_run, "r"}, {meta::checkpoint, "c"},
        {meta::parameters, R"(["hidden.weight","hidden.bias"])"}, {meta::watch_level, "2"}, {meta::watch_steps, "12"},
        {meta::watch_ns, "1000"}, {meta::watch_record_steps, "3"}, {meta::watch_record_ns, "500"}, {meta::final_scale, "65536"},
        {meta::watch_thinned, R"([{"step":4,"every":2}])"}, {meta::kept_states, "2"}, {meta::kept_states_bytes, "4096"},
        {meta::linear_layers, R"([{"module":"hidden","in":32,"out":16,"fp8":true}])"}};
    for (const auto& [key, value] : values) recorder.meta(key, value);
    OutputMaxima maxima(1);
    for (int step = 0; step < 8; ++step) maxima.look(step, "gate.mul", 100.0F * static_cast<float>(step + 1));
    recorder.meta(meta::output_maxima, maxima.to_text());
}

void record_rows(RunRecorder& recorder) {
    for (std::int64_t i = 0; i < 6; ++i) {
        StepRow step;
        step.step = i, step.applied_step = i + 1, step.time_ns = 1'000'000'000 * (i + 1), step.loss = 2.0 / static_cast<double>(i + 1);
        step.learning_rate = 1e-3, step.grad_norm = 0.5, step.loss_scale = 65536, step.growth_tracker = i, step.samples = 32, step.step_ns = 1'000'000;
        recorder.step(step);
        recorder.extremes({i, 1, {0.5F, 0.25F}, {1.0F, 2.0F}, {0, 1}});
        for (const TensorRole role : {TensorRole::Weight, TensorRole::Gradient, TensorRole::Update, TensorRole::Output}) {
            TensorStatRow row;
            row.step = i, row.role = role, row.tensor = role == TensorRole::Output ? "gate.mul" : "hidden.weight", row.dtype = "float32";
            row.elements = 3, row.largest = 40000.0 + static_cast<double>(i) * 2000, row.smallest_nonzero = 1e-6, row.mean_abs = 1, row.rms = 2;
            row.exponents = histogram_of({1e-6, 1.0, row.largest}).to_blob();
            recorder.tensor_stat(row);
        }
    }
    recorder.micro_batch({1, 0, 2.0});
    recorder.evaluation({6, "validation", "accuracy", 0.9, "fp32", 360});
    recorder.memory({1, "weights", 4096});
    recorder.op_dtypes({0, "forward", "addmm", "float32", 2, 1000, 0, 0});
    recorder.incident({0, 5, "forward", "activation_overflow", "error", "gate", "mul", "gate.mul", R"({"largest":"+Inf","operands":[261,256]})"});
    recorder.local_error({2, "gate.mul", TensorRole::Output, "float16", 40.0, 0.01});
    recorder.alarm({3, "headroom", "warning", "gate.mul", 0.5, 1.0, "mark"});
}

/// Closed, in one file.
std::string recorded(const fs::path& run, std::int64_t rank) {
    {
        auto recorder = RunRecorder::open(run, rank);
        if (!recorder) std::abort();
        (*recorder)->state(RunState::Running);
        record_meta(**recorder);
        record_rows(**recorder);
        (*recorder)->state(RunState::Finished, "all steps are done");
        if (!(*recorder)->flush()) std::abort();
    }
    const fs::path file = run / (rank == 0 ? "run.db" : "rank-1.db");
    sqlite3* database = open_database(file);
    if (sqlite3_exec(database, "PRAGMA journal_mode=DELETE; PRAGMA page_size=1024; VACUUM", nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
    sqlite3_close(database);
    auto bytes = read_file(file);
    if (!bytes) std::abort();
    return *std::move(bytes);
}

std::vector<std::string> column_of_answers(sqlite3* database, const std::string& sql, int column) {
    std::vector<std::string> texts;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) std::abort();
    while (sqlite3_step(statement) == SQLITE_ROW) texts.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
    sqlite3_finalize(statement);
    return texts;
}

const Recording& recording() {
    static const Recording one = [] {
        Recording made;
        made.run = fuzz::folder() / "run";
        fs::create_directories(made.run);
        static_cast<void>(fuzz::file_with("run/plan.json", R"({"mantissa_plan": 1, "plan": {"loss_scale": {"floor": 6e-05}, "on_nonfinite": "stop"}})"));
        made.database = recorded(made.run, 0);
        made.rank = recorded(made.run, 1);
        sqlite3* database = open_database(made.run / "run.db");
        for (const std::string& name : column_of_answers(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", 0))
            made.tables.push_back({name, column_of_answers(database, "PRAGMA table_info(" + name + ")", 1)});
        sqlite3_close(database);
        return made;
    }();
    return one;
}

/// The input, taken from its front; zeros when it is used up.
class Edits {
  public:
    Edits(const std::uint8_t* data, std::size_t size) : m_rest(fuzz::text_of(data, size)) {}
    [[nodiscard]] bool empty() const { return m_rest.empty(); }
    std::uint8_t byte() { return static_cast<std::uint8_t>(bytes(1)[0]); }
    std::string bytes(std::size_t count) {
        std::string taken(m_rest.substr(0, count));
        m_rest.remove_prefix(taken.size());
        taken.resize(count);
        return taken;
    }
    std::string sized() {
        const std::size_t size = std::min<std::size_t>(byte() + 256U * byte(), m_rest.size());
        return bytes(size);
    }
    template <class Number>
    Number number() {
        Number value{};
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }

  private:
    std::string_view m_rest;
};

void bind_value(sqlite3_stmt* statement, Edits& edits) {
    std::string text;
    switch (edits.byte() % 5) {
        case 0: sqlite3_bind_int64(statement, 1, edits.number<std::int64_t>()); break;
        case 1: sqlite3_bind_double(statement, 1, edits.number<double>()); break;
        case 2: text = edits.sized(), sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT); break;
        case 3: text = edits.sized(), sqlite3_bind_blob(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT); break;
        default: sqlite3_bind_null(statement, 1); break;
    }
}

void edit(const fs::path& file, Edits& edits) {
    sqlite3* database = open_database(file);
    sqlite3_exec(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", nullptr, nullptr, nullptr);
    for (int i = 0; i < 16 && !edits.empty(); ++i) {
        const Table& table = recording().tables[edits.byte() % recording().tables.size()];
        const std::string& column = table.columns[edits.byte() % table.columns.size()];
        const std::string sql = "UPDATE " + table.name + " SET \"" + column + "\" = ? WHERE rowid = (SELECT rowid FROM " + table.name +
                                " ORDER BY rowid LIMIT 1 OFFSET " + std::to_string(edits.byte()) + ")";
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) std::abort();
        bind_value(statement, edits);
        sqlite3_step(statement);  // what the schema refuses stays as it was
        sqlite3_finalize(statement);
    }
    sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
    sqlite3_close(database);
}

void read_rows(const fs::path& run) {
    auto reader = RunReader::open(run);
    if (!reader) return;
    static_cast<void>((*reader)->read_new());
    static_cast<void>((*reader)->extremes());
    static_cast<void>((*reader)->state());
    for (const TensorRole role : {TensorRole::Weight, TensorRole::Gradient, TensorRole::Update, TensorRole::Output})
        if (const auto rows = (*reader)->tensor_stats(role))
            for (const TensorStatRow& row : *rows) static_cast<void>(ExponentHistogram::from_blob(row.exponents));
    if (const auto summary = summarize_run(run)) static_cast<void>(record_json::dump(to_json(*summary)));
    static_cast<void>(read_rank_views(run));
}

void export_rows(const fs::path& run) {
    for (const ExportTable table : {ExportTable::Steps, ExportTable::MicroBatches, ExportTable::Evaluations, ExportTable::Tensors}) {
        std::ostringstream out;
        static_cast<void>(export_table(run, table, ExportFormat::Json, out));
    }
}

void judge_it(const fs::path& run) {
    if (const auto judged = judge_run(run, "en"))
        if (!write_verdicts(run, judged->verdicts)) std::abort();
}

void read_it(const fs::path& run, int part) {
    switch (part) {
        case 0: read_rows(run); break;
        case 1: export_rows(run); break;
        case 2: static_cast<void>(read_forecast(run)); break;
        case 3: judge_it(run); break;
        default: static_cast<void>(write_html_report(run, "en")); break;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const Recording& base = recording();
    static_cast<void>(fuzz::file_with("run/run.db", base.database));
    static_cast<void>(fuzz::file_with("run/rank-1.db", base.rank));
    Edits edits(data + 1, size - 1);
    edit(base.run / (data[0] / 5 % 4 == 0 ? "rank-1.db" : "run.db"), edits);
    read_it(base.run, data[0] % 5);
    return 0;
}
