#include "record/row_writer.h"

#include <array>

#include "record/extremes.h"

namespace mantissa::db {

std::size_t RowBatch::size() const {
    return steps.size() + micro_batches.size() + evaluations.size() + memory.size() + op_dtypes.size() +
           incidents.size() + tensor_stats.size() + extremes.size() + local_errors.size() + alarms.size() + states.size() +
           meta.size();
}

void RowBatch::clear() {
    steps.clear();
    micro_batches.clear();
    evaluations.clear();
    memory.clear();
    op_dtypes.clear();
    incidents.clear();
    tensor_stats.clear();
    extremes.clear();
    local_errors.clear();
    alarms.clear();
    states.clear();
    meta.clear();
}

Result<RowWriter> RowWriter::prepare(Database& database) {
    RowWriter writer(database);
    if (auto done = writer.prepare_all(); !done) return done.error();
    return writer;
}

Result<void> RowWriter::prepare_all() {
    struct Entry {
        Statement* statement;
        const char* sql;
    };
    const std::array<Entry, 14> entries{{
        {&m_begin, "BEGIN IMMEDIATE"},
        {&m_commit, "COMMIT"},
        {&m_steps,
         "INSERT INTO steps(step, applied_step, epoch, time_ns, loss, learning_rate, grad_norm, loss_scale, "
         "growth_tracker,"
         " skipped, skip_kind, nonfinite_loss, nonfinite_grads, memory_bytes, memory_peak_bytes, "
         "host_memory_bytes, samples,"
         " data_ns, step_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&m_micro_batches, "INSERT INTO micro_batches(step, \"index\", loss) VALUES(?,?,?)"},
        {&m_evaluations,
         "INSERT INTO evaluations(step, split, metric, value, precision, samples) VALUES(?,?,?,?,?,?)"},
        {&m_memory, "INSERT INTO memory(step, part, bytes) VALUES(?,?,?)"},
        {&m_op_dtypes,
         "INSERT INTO op_dtypes(step, phase, op, dtype, calls, multiply_adds, casts, cast_bytes) VALUES(?,?,?,?,?,?,?,?)"},
        {&m_tensor_stats,
         "INSERT INTO tensor_stats(step, tensor, role, dtype, elements, nan, pos_inf, neg_inf, zero, negative, subnormal, largest,"
         " smallest_nonzero, mean, mean_abs, rms, unmoved, exponents) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&m_extremes, "INSERT INTO extremes(first_step, steps, \"values\") VALUES(?,?,?)"},
        {&m_local_errors,
         "INSERT INTO local_errors(step, tensor, role, dtype, sqnr_db, relative_error) VALUES(?,?,?,?,?,?)"},
        {&m_alarms, "INSERT INTO alarms(step, rule, severity, tensor, value, threshold, action) VALUES(?,?,?,?,?,?,?)"},
        {&m_incidents,
         "INSERT INTO incidents(id, step, phase, kind, severity, module, op, tensor, detail) "
         "VALUES(?,?,?,?,?,?,?,?,?)"},
        {&m_states, "INSERT INTO states(time_ns, state, reason) VALUES(?,?,?)"},
        {&m_meta,
         "INSERT INTO meta(key, value) VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"},
    }};
    for (const auto& [statement, sql] : entries) {
        auto prepared = m_database->prepare(sql);
        if (!prepared) return prepared.error();
        *statement = std::move(prepared).value();
    }
    return {};
}

Result<void> RowWriter::write(const RowBatch& batch) {
    if (auto begun = run(m_begin); !begun) return begun;
    auto written = write_rows(batch);
    if (written) written = run(m_commit);
    if (!written) m_database->try_execute("ROLLBACK");
    return written;
}

Result<void> RowWriter::run(Statement& statement) {
    const int code = statement.step();
    if (code == SQLITE_DONE) {
        statement.reset();
        return {};
    }
    Error error = m_database->last_error("writing");
    statement.reset();
    return error;
}

void RowWriter::bind(const StepRow& row) {
    Statement& s = m_steps;
    s.bind(0, row.step);
    s.bind(1, row.applied_step);
    s.bind(2, row.epoch);
    s.bind(3, row.time_ns);
    s.bind(4, row.loss);
    s.bind(5, row.learning_rate);
    s.bind(6, row.grad_norm);
    s.bind(7, row.loss_scale);
    s.bind(8, row.growth_tracker);
    s.bind(9, std::int64_t{row.skipped});
    s.bind_static(10, to_string(row.skip_kind));
    s.bind(11, std::int64_t{row.nonfinite_loss});
    s.bind(12, row.nonfinite_grads);
    s.bind(13, row.memory_bytes);
    s.bind(14, row.memory_peak_bytes);
    s.bind(15, row.host_memory_bytes);
    s.bind(16, row.samples);
    s.bind(17, row.data_ns);
    s.bind(18, row.step_ns);
}

namespace {

template <typename... Values>
void bind_all(Statement& statement, const Values&... values) {
    int index = 0;
    (statement.bind(index++, values), ...);
}

std::string_view view(const std::string& text) {
    return text;
}

}  // namespace

Result<void> RowWriter::write_rows(const RowBatch& batch) {
    for (const StepRow& row : batch.steps) {
        bind(row);
        if (auto done = run(m_steps); !done) return done;
    }
    for (const MicroBatchRow& row : batch.micro_batches) {
        bind_all(m_micro_batches, row.step, row.index, row.loss);
        if (auto done = run(m_micro_batches); !done) return done;
    }
    for (const EvaluationRow& row : batch.evaluations) {
        bind_all(m_evaluations, row.step, view(row.split), view(row.metric), row.value, view(row.precision),
                 row.samples);
        if (auto done = run(m_evaluations); !done) return done;
    }
    for (const MemoryRow& row : batch.memory) {
        bind_all(m_memory, row.step, view(row.part), row.bytes);
        if (auto done = run(m_memory); !done) return done;
    }
    for (const OpDtypeRow& row : batch.op_dtypes) {
        bind_all(m_op_dtypes, row.step, view(row.phase), view(row.op), view(row.dtype), row.calls,
                 row.multiply_adds, row.casts, row.cast_bytes);
        if (auto done = run(m_op_dtypes); !done) return done;
    }
    for (const IncidentRow& row : batch.incidents) {
        bind_all(m_incidents, row.id, row.step, view(row.phase), view(row.kind), view(row.severity),
                 view(row.module), view(row.op), view(row.tensor), view(row.detail_json));
        if (auto done = run(m_incidents); !done) return done;
    }
    for (const TensorStatRow& row : batch.tensor_stats) {
        bind_all(m_tensor_stats, row.step, view(row.tensor), std::string_view(to_string(row.role)), view(row.dtype), row.elements,
                 row.nan, row.pos_inf, row.neg_inf, row.zero, row.negative, row.subnormal, row.largest, row.smallest_nonzero,
                 row.mean, row.mean_abs, row.rms, row.unmoved);
        m_tensor_stats.bind_blob(17, row.exponents);
        if (auto done = run(m_tensor_stats); !done) return done;
    }
    for (const ExtremesRow& row : batch.extremes) {
        bind_all(m_extremes, row.first_step, row.steps);
        m_extremes.bind_blob(2, extremes_to_blob(row));
        if (auto done = run(m_extremes); !done) return done;
    }
    for (const LocalErrorRow& row : batch.local_errors) {
        bind_all(m_local_errors, row.step, view(row.tensor), std::string_view(to_string(row.role)), view(row.dtype), row.sqnr_db,
                 row.relative_error);
        if (auto done = run(m_local_errors); !done) return done;
    }
    for (const AlarmRow& row : batch.alarms) {
        bind_all(m_alarms, row.step, view(row.rule), view(row.severity), view(row.tensor), row.value, row.threshold,
                 view(row.action));
        if (auto done = run(m_alarms); !done) return done;
    }
    for (const StateRow& row : batch.states) {
        bind_all(m_states, row.time_ns, std::string_view(to_string(row.state)), view(row.reason));
        if (auto done = run(m_states); !done) return done;
    }
    for (const auto& [key, value] : batch.meta) {
        bind_all(m_meta, view(key), view(value));
        if (auto done = run(m_meta); !done) return done;
    }
    return {};
}

}  // namespace mantissa::db
