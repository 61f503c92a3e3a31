#pragma once
// What probe and trial found, as values with JSON: written by the torch side, read by the command line, the window and judge.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa {

struct ModeSupport {
    Precision mode = Precision::No;
    Support support = Support::Unsupported;
    std::string reason;      // a sentence
    bool tried = false;      // a real forward + backward ran in this mode
    bool tried_ok = false;
    std::optional<double> trial_ms;
};

/// Something that a GPU's driver says of it: a number with its unit, or a text. Both empty: not known, shown as "n/a".
struct DeviceFigure {
    std::string name;  // "driver" "memory_used" "busy" "temperature" "power" "power_limit" "clock"
    std::string text;
    std::optional<double> value;
    std::string unit;  // "bytes" "%" "°C" "W" "MHz"; "": a text
};

struct DeviceReport {
    std::string id;    // "cpu" "cuda:0"
    std::string name;  // "AMD EPYC, 2 cores"
    std::int64_t memory_bytes = 0;
    std::string capability;  // instruction set of a CPU ("AVX2", "AVX512 + AVX512-BF16"), compute capability of a GPU
    std::vector<ModeSupport> modes;  // one of each, in the order no fp16 bf16 fp8
    std::vector<DeviceFigure> figures = {};  // of a GPU
};

struct ProbeReport {
    std::vector<DeviceReport> devices;
    std::vector<std::string> notes;  // "no NVIDIA driver"; the scope of the CUDA question
    std::string torch_version;
};

/// Where the time of a step went, update included and data not; medians of a few.
struct OpTime {
    double products_ms = 0;  // inside matrix products and convolutions, forward and backward, without the casts before them
    double step_ms = 0;      // all of a step, without the clock on its ops that the other figure needs
};

/// One mode of this model on one batch, forward and backward, in a throw-away process.
struct TrialReport {
    Precision mode = Precision::No;
    PrecisionChoice choice;
    bool runs = false;
    std::string refusal, refused_op, refused_module;  // when it doesn't run
    double step_ms = 0;  // median of a few
    std::optional<OpTime> op_time;  // empty where a kernel goes on after its call returned (CUDA)
    std::int64_t memory_peak_bytes = 0;
    std::int64_t op_kinds = 0, op_kinds_half = 0;  // distinct aten ops of forward and backward; those with a half result
    std::int64_t multiply_adds = 0, multiply_adds_half = 0;
    std::optional<double> headroom_bits;  // log2(largest finite of the format / largest |output|); negative or -inf: it overflowed
    std::string headroom_module;
    bool loss_finite = true, outputs_finite = true;
    std::vector<std::string> notes;  // what in the model will surprise: a device that is baked in, a cast to half
};

nlohmann::json to_json(const ProbeReport& report);
Result<ProbeReport> probe_report_from_json(const nlohmann::json& json);
nlohmann::json to_json(const TrialReport& report);
Result<TrialReport> trial_report_from_json(const nlohmann::json& json);

}  // namespace mantissa
