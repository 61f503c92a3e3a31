#include "trace.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/numbers.h"

namespace mantissa::golden {
namespace {

using nlohmann::json;

struct BadTrace {
    std::string message;
};

const json& field(const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name)) {
        throw BadTrace{std::string("the field '") + name + "' is missing"};
    }
    return object[name];
}

std::int64_t whole(const json& object, const char* name, std::int64_t least) {
    const json& value = field(object, name);
    if (!value.is_number_integer() || value.get<std::int64_t>() < least) {
        throw BadTrace{std::string("'") + name + "' is " + value.dump() + ", not a whole number from " +
                       std::to_string(least) + " up"};
    }
    return value.get<std::int64_t>();
}

bool truth(const json& object, const char* name) {
    const json& value = field(object, name);
    if (!value.is_boolean()) {
        throw BadTrace{std::string("'") + name + "' is " + value.dump() + ", not true or false"};
    }
    return value.get<bool>();
}

// Floats are float.hex() texts, "nan", "inf" and "-inf".
double hexed(const json& object, const char* name) {
    const json& value = field(object, name);
    if (value.is_string()) {
        const std::string text = value.get<std::string>();
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);  // reads 0x1.8p+1; the C locale is never changed here
        if (!text.empty() && *end == '\0') {
            return number;
        }
    }
    throw BadTrace{std::string("'") + name + "' is " + value.dump() + ", not a hexadecimal float text"};
}

TraceRow row_of(const json& entry) {
    TraceRow row;
    row.epoch = whole(entry, "epoch", 0);
    row.loss = hexed(entry, "loss");
    row.sync = truth(entry, "sync");
    row.learning_rate = hexed(entry, "lr");
    if (entry.contains("skipped")) row.skipped = truth(entry, "skipped");
    if (entry.contains("grad_norm")) row.grad_norm = hexed(entry, "grad_norm");
    if (entry.contains("scale_after")) row.scale_after = hexed(entry, "scale_after");
    if (entry.contains("growth_tracker_after")) row.growth_tracker_after = whole(entry, "growth_tracker_after", 0);
    return row;
}

std::shared_ptr<const json> optional_part(const json& plan, const char* name) {
    return plan.contains(name) && !plan[name].is_null() ? std::make_shared<const json>(plan[name]) : nullptr;
}

void read_plan(const json& plan, Trace& trace) {
    trace.layers = std::make_shared<const json>(field(plan, "layers"));
    trace.optimizer = std::make_shared<const json>(field(plan, "optimizer"));
    trace.scheduler = optional_part(plan, "scheduler");
    trace.scaler = optional_part(plan, "scaler");
    const json& data = field(plan, "data");
    if (!data.is_string()) {
        throw BadTrace{"'data' is " + data.dump() + ", not a name"};
    }
    trace.data = data.get<std::string>();
    trace.batch_size = whole(plan, "batch_size", 1);
    trace.epochs = whole(plan, "epochs", 1);
    trace.accumulation = plan.contains("accumulation") ? whole(plan, "accumulation", 1) : 1;
    if (plan.contains("clip_norm") && !plan["clip_norm"].is_null()) {
        if (!plan["clip_norm"].is_number()) {
            throw BadTrace{"'clip_norm' is " + plan["clip_norm"].dump() + ", not a number"};
        }
        const double clip = plan["clip_norm"].get<double>();
        trace.clip_norm = clip != 0 ? std::optional(clip) : std::nullopt;  // Python: 0 is false, no clipping
    }
}

std::vector<std::vector<std::int64_t>> orders_of(const json& order, std::int64_t epochs) {
    if (!order.is_array() || order.size() != static_cast<std::size_t>(epochs)) {
        throw BadTrace{"'order' does not hold one list of samples for each of the " + std::to_string(epochs) + " epochs"};
    }
    std::vector<std::vector<std::int64_t>> orders;
    for (const json& one : order) {
        if (!one.is_array()) {
            throw BadTrace{"'order' holds something that is not a list"};
        }
        auto& samples = orders.emplace_back();
        for (const json& sample : one) {
            if (!sample.is_number_unsigned()) {
                throw BadTrace{"'order' holds " + sample.dump() + ", not the index of a sample"};
            }
            samples.push_back(sample.get<std::int64_t>());
        }
    }
    return orders;
}

Result<json> read_json(const std::filesystem::path& file) {
    auto text = read_file(file);
    if (!text) {
        return text.error();
    }
    try {
        return json::parse(*text);
    } catch (const json::parse_error& error) {
        return Error{ErrorCode::BadPlan, file.string() + " is not JSON: byte " + std::to_string(error.byte) + " of " +
                                             std::to_string(text->size()), ""};
    }
}

}  // namespace

Result<Trace> read_trace(const std::filesystem::path& folder, const std::string& mode) {
    const auto file = folder / ("trace-" + mode + ".json");
    const auto document = read_json(file);
    if (!document) {
        return document.error();
    }
    try {
        Trace trace;
        trace.task = folder.filename().string();
        if (field(*document, "mode") != json(mode)) {
            throw BadTrace{"'mode' is " + field(*document, "mode").dump() + ", not \"" + mode + "\""};
        }
        trace.mode = parse_precision(mode).value_or(Precision::No);
        read_plan(field(*document, "plan"), trace);
        const json* order = &field(*document, "order");
        json control;
        if (order->is_string()) {
            auto other = read_json(folder / "trace-no.json");
            if (!other) {
                return other.error();
            }
            control = std::move(*other);
            order = &field(control, "order");
        }
        trace.orders = orders_of(*order, trace.epochs);
        const json& rows = field(*document, "micro_batches");
        if (!rows.is_array() || rows.empty()) {
            throw BadTrace{"'micro_batches' is not a list of micro-batches"};
        }
        for (const json& row : rows) {
            trace.rows.push_back(row_of(row));
        }
        return trace;
    } catch (const BadTrace& bad) {
        return Error{ErrorCode::BadPlan, file.string() + ": " + bad.message, ""};
    }
}

}  // namespace mantissa::golden
