#pragma once
// One reference trace: the plan of a run, the order of its samples, and what happened in every micro-batch.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa::golden {

struct TraceRow {
    std::int64_t epoch = 0;
    double loss = 0;
    bool sync = true;
    double learning_rate = 0;
    std::optional<bool> skipped;
    std::optional<double> grad_norm;
    std::optional<double> scale_after;
    std::optional<std::int64_t> growth_tracker_after;
};

struct Trace {
    std::string task, data;
    Precision mode = Precision::No;
    std::shared_ptr<const nlohmann::json> layers, optimizer, scheduler, scaler;  // scheduler and scaler may be null
    std::int64_t batch_size = 1, epochs = 1, accumulation = 1;
    std::optional<double> clip_norm;
    std::vector<std::vector<std::int64_t>> orders;
    std::vector<TraceRow> rows;
};

/// trace-MODE.json of the folder; the order may stand in trace-no.json.
Result<Trace> read_trace(const std::filesystem::path& folder, const std::string& mode);

}  // namespace mantissa::golden
