#pragma once
// A batch of rows of all tables, and the prepared statements that write it in one transaction. Internal to
// core/record.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/database.h"
#include "record/rows.h"

namespace mantissa::db {

struct RowBatch {
    std::vector<StepRow> steps;
    std::vector<MicroBatchRow> micro_batches;
    std::vector<EvaluationRow> evaluations;
    std::vector<MemoryRow> memory;
    std::vector<OpDtypeRow> op_dtypes;
    std::vector<IncidentRow> incidents;
    std::vector<TensorStatRow> tensor_stats;
    std::vector<ExtremesRow> extremes;
    std::vector<LocalErrorRow> local_errors;
    std::vector<AlarmRow> alarms;
    std::vector<StateRow> states;
    std::vector<std::pair<std::string, std::string>> meta;

    [[nodiscard]] std::size_t size() const;
    void clear();  // keeps the capacity
};

/// Owned and used by the writer thread of one RunRecorder.
class RowWriter {
  public:
    static Result<RowWriter> prepare(Database& database);
    /// All rows or none.
    Result<void> write(const RowBatch& batch);

  private:
    explicit RowWriter(Database& database) : m_database(&database) {}
    Result<void> prepare_all();
    Result<void> write_rows(const RowBatch& batch);
    Result<void> run(Statement& statement);
    void bind(const StepRow& row);

    Database* m_database;
    Statement m_begin, m_commit, m_steps, m_micro_batches, m_evaluations, m_memory, m_op_dtypes, m_incidents, m_tensor_stats,
        m_extremes, m_local_errors, m_alarms,
        m_states, m_meta;
};

}  // namespace mantissa::db
