#include "repeat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/dataset.h"
#include "engine/accelerator.h"
#include "network.h"
#include "settings.h"
#include "tensor_file.h"

namespace mantissa::golden {
namespace {

enum Kind { Loss, Sync, GradNorm, Skipped, Scale, GrowthTracker, LearningRate, Weights };

std::string hexed(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%a", value);
    return text.data();
}

// Bits, except that one NaN is as good as another: a trace writes "nan" and keeps no payload.
bool is_same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void compare(Count& count, const std::string& place, double here, double there) {
    ++count.all;
    if (is_same(here, there)) {
        ++count.equal;
    } else if (count.first_difference.empty()) {
        count.first_difference = place + ": " + hexed(here) + " here, " + hexed(there) + " in the trace";
    }
}

void compare_weights(Count& count, const std::string& name, const torch::Tensor& here, const torch::Tensor& there) {
    if (here.sizes() != there.sizes() || here.scalar_type() != there.scalar_type()) {
        throw EngineError({ErrorCode::BadPlan, "the weights '" + name + "' have another shape or dtype in the trace", ""});
    }
    const torch::Tensor ours = here.to(at::kDouble).contiguous(), theirs = there.to(at::kDouble).contiguous();
    for (std::int64_t i = 0; i < ours.numel(); ++i) {
        compare(count, name + "[" + std::to_string(i) + "]", ours.const_data_ptr<double>()[i],
                theirs.const_data_ptr<double>()[i]);
    }
}

class TraceBatches : public BatchSource {
  public:
    TraceBatches(Batch all, const Trace& trace) : m_all(std::move(all)), m_trace(trace) {}
    void begin(std::int64_t epoch) override {
        m_order = torch::tensor(m_trace.orders.at(static_cast<std::size_t>(epoch)), at::kLong);
        m_position = 0;
    }
    std::optional<Batch> next() override {
        if (m_position >= m_order.numel()) {
            return std::nullopt;
        }
        const auto samples = m_order.slice(0, m_position, std::min(m_position + m_trace.batch_size, m_order.numel()));
        m_position += m_trace.batch_size;
        return Batch{m_all.features.index_select(0, samples), m_all.labels.index_select(0, samples)};
    }

  private:
    Batch m_all;
    const Trace& m_trace;
    torch::Tensor m_order;
    std::int64_t m_position = 0;
};

std::map<std::string, torch::Tensor> state_of(const torch::nn::Module& module) {
    std::map<std::string, torch::Tensor> state;
    for (const auto& entry : module.named_parameters()) state.emplace(entry.key(), entry.value());
    for (const auto& entry : module.named_buffers()) state.emplace(entry.key(), entry.value());
    return state;
}

std::map<std::string, torch::Tensor> tensors_of(const std::filesystem::path& file) {
    auto tensors = read_tensor_file(file);
    if (!tensors) {
        throw EngineError(tensors.error());
    }
    return std::move(*tensors);
}

// Calls `use(name, ours, theirs)`; both sides must hold the same names.
template <typename Use>
void for_each_tensor(const torch::nn::Module& module, const std::filesystem::path& file, Use use) {
    const auto theirs = tensors_of(file);
    const auto ours = state_of(module);
    for (const auto& [name, tensor] : ours) {
        const auto found = theirs.find(name);
        if (found == theirs.end()) {
            throw EngineError({ErrorCode::BadPlan, file.string() + " holds no '" + name + "'", ""});
        }
        use(name, tensor, found->second);
    }
    for (const auto& [name, tensor] : theirs) {
        if (!ours.contains(name)) {
            throw EngineError({ErrorCode::BadPlan, file.string() + " holds '" + name + "', which the layers don't have", ""});
        }
    }
}

Batch data_of(const std::filesystem::path& folder, const Trace& trace) {
    if (std::filesystem::exists(folder / "data.safetensors")) {
        const auto tensors = tensors_of(folder / "data.safetensors");
        if (!tensors.contains("features") || !tensors.contains("labels")) {
            throw EngineError({ErrorCode::BadPlan, "data.safetensors holds no features or no labels", ""});
        }
        return {tensors.at("features"), tensors.at("labels")};
    }
    const std::map<std::string, std::pair<const char*, const char*>> known = {
        {"digits", {"digits", "digits.csv.gz"}}, {"breast_cancer", {"breast-cancer", "breast_cancer.csv"}}};
    const auto found = known.find(trace.data);
    if (found == known.end()) {
        throw EngineError({ErrorCode::BadPlan, "the data '" + trace.data + "' are not known, and data.safetensors is not there",
                           "known are digits and breast_cancer"});
    }
    DatasetPlan plan;
    plan.name = found->second.first;
    const auto beside = folder / ".." / ".." / "data" / found->second.second;
    if (std::filesystem::exists(beside)) {
        plan.file = beside.string();
    }
    auto dataset = load_dataset(plan);
    if (!dataset) {
        throw EngineError(dataset.error());
    }
    return {dataset->features, dataset->labels};
}

void check_order(const Trace& trace, std::int64_t samples) {
    std::int64_t batches = 0;
    for (const auto& order : trace.orders) {
        for (const auto sample : order) {
            if (sample >= samples) {
                throw EngineError({ErrorCode::BadPlan, "'order' names sample " + std::to_string(sample) + " of " +
                                                           std::to_string(samples), ""});
            }
        }
        batches += (static_cast<std::int64_t>(order.size()) + trace.batch_size - 1) / trace.batch_size;
    }
    if (batches != static_cast<std::int64_t>(trace.rows.size())) {
        throw EngineError({ErrorCode::BadPlan, "the order gives " + std::to_string(batches) + " micro-batches, the trace has " +
                                                   std::to_string(trace.rows.size()), ""});
    }
}

AcceleratorOptions options_of(const Trace& trace) {
    AcceleratorOptions options;
    options.mixed_precision = trace.mode;
    options.device = "cpu";
    options.gradient_accumulation_steps = trace.accumulation;
    options.compat = Compat::Accelerate;
    if (trace.scaler) {
        if (!trace.scaler->is_object()) {
            throw EngineError({ErrorCode::BadPlan, "'scaler' is " + trace.scaler->dump() + ", not an object", ""});
        }
        for (const auto& [name, value] : trace.scaler->items()) {
            if (name == "enabled" ? !value.is_boolean() : !value.is_number()) {
                throw EngineError({ErrorCode::BadPlan, "scaler." + name + " is " + value.dump(), ""});
            }
            if (name == "init_scale") options.loss_scale.initial = value.get<double>();
            else if (name == "growth_factor") options.loss_scale.growth_factor = value.get<double>();
            else if (name == "backoff_factor") options.loss_scale.backoff_factor = value.get<double>();
            else if (name == "growth_interval") options.loss_scale.growth_interval = value.get<std::int64_t>();
            else if (name == "enabled") options.loss_scale_enabled = value.get<bool>();
            else throw EngineError({ErrorCode::BadPlan, "the scaler's argument '" + name + "' is not known", ""});
        }
    }
    return options;
}

class Repetition {
  public:
    Repetition(const std::filesystem::path& folder, const Trace& trace) : m_trace(trace), m_accelerator(options_of(trace)) {
        Batch data = data_of(folder, trace);
        check_order(trace, data.features.size(0));
        auto network = std::make_shared<Network>(*trace.layers);
        for_each_tensor(*network, folder / "initial.safetensors",
                        [](const std::string& name, const torch::Tensor& ours, const torch::Tensor& theirs) {
                            if (ours.sizes() != theirs.sizes()) {
                                throw EngineError({ErrorCode::BadPlan, "initial.safetensors: '" + name + "' has another shape", ""});
                            }
                            const torch::NoGradGuard no_grad;
                            torch::Tensor(ours).copy_(theirs);
                        });
        auto optimizer = golden::make_optimizer(*trace.optimizer, network->parameters());
        if (trace.scheduler) {
            m_scheduler.emplace(m_accelerator.prepare(golden::make_scheduler(*trace.scheduler, optimizer)));
        }
        auto [model, prepared, loader] = m_accelerator.prepare(
            std::move(network), std::move(optimizer), Loader(std::make_unique<TraceBatches>(std::move(data), trace)));
        m_model.emplace(std::move(model));
        m_optimizer.emplace(std::move(prepared));
        m_loader.emplace(std::move(loader));
    }

    Comparison run(const std::filesystem::path& folder) {
        Comparison comparison;
        std::size_t index = 0;
        for (std::int64_t epoch = 0; epoch < m_trace.epochs; ++epoch) {
            for (const Batch& batch : *m_loader) {
                micro_batch(batch, m_trace.rows[index], "micro-batch " + std::to_string(index), comparison);
                ++index;
            }
        }
        const auto final = folder / ("final-" + std::string(to_string(m_trace.mode)) + ".safetensors");
        for_each_tensor(*m_model->unwrap(), final,
                        [&](const std::string& name, const torch::Tensor& ours, const torch::Tensor& theirs) {
                            compare_weights(comparison.counts[Weights], name, ours, theirs);
                        });
        return comparison;
    }

  private:
    void micro_batch(const Batch& batch, const TraceRow& row, const std::string& place, Comparison& comparison) {
        auto& counts = comparison.counts;
        m_accelerator.accumulate();
        torch::Tensor loss;
        {
            const auto amp = m_accelerator.autocast();
            loss = at::cross_entropy_loss((*m_model)(batch.features), batch.labels);
        }
        m_accelerator.backward(loss);
        std::optional<double> norm;
        if (m_accelerator.sync_gradients() && m_trace.clip_norm) {
            norm = m_accelerator.clip_grad_norm(m_model->parameters(), *m_trace.clip_norm);
        }
        m_optimizer->step();
        if (m_scheduler) {
            m_scheduler->step();
        }
        compare(counts[Loss], place, loss.item<double>(), row.loss);
        compare(counts[Sync], place, m_accelerator.sync_gradients() ? 1 : 0, row.sync ? 1 : 0);
        compare(counts[LearningRate], place, m_optimizer->learning_rate(), row.learning_rate);
        compare_optional(counts[GradNorm], place, norm, row.grad_norm);
        if (m_accelerator.sync_gradients() || row.skipped) {
            compare_optional(counts[Skipped], place, m_accelerator.optimizer_step_was_skipped() ? 1.0 : 0.0, row.skipped);
        }
        if (m_accelerator.sync_gradients() || row.scale_after) {
            const auto state = m_accelerator.loss_scale_state();
            compare_optional(counts[Scale], place, state ? std::optional(state->scale) : std::nullopt, row.scale_after);
            compare_optional(counts[GrowthTracker], place,
                             state ? std::optional(static_cast<double>(state->growth_tracker)) : std::nullopt,
                             row.growth_tracker_after);
        }
        m_optimizer->zero_grad();
    }

    // A value that only one side has is a difference too.
    template <typename Value>
    static void compare_optional(Count& count, const std::string& place, std::optional<double> here,
                                 const std::optional<Value>& there) {
        if (here && there) {
            compare(count, place, *here, static_cast<double>(*there));
        } else if (here.has_value() != there.has_value()) {
            ++count.all;
            if (count.first_difference.empty()) {
                count.first_difference = place + (here ? ": only here" : ": only in the trace");
            }
        }
    }

    const Trace& m_trace;
    Accelerator m_accelerator;
    std::optional<PreparedModel<std::shared_ptr<Network>>> m_model;
    std::optional<PreparedOptimizer> m_optimizer;
    std::optional<PreparedScheduler> m_scheduler;
    std::optional<PreparedLoader> m_loader;
};

}  // namespace

bool Comparison::is_equal() const {
    return std::all_of(counts.begin(), counts.end(), [](const Count& count) { return count.equal == count.all; });
}

Result<Comparison> repeat(const std::filesystem::path& folder, const Trace& trace) {
    try {
        at::set_num_threads(1);
        return Repetition(folder, trace).run(folder);
    } catch (const EngineError& error) {
        return error.error();
    } catch (const std::exception& error) {  // torch's own: layers that don't fit the data, for one
        const std::string text = error.what();
        return Error{ErrorCode::BadPlan, text.substr(0, text.find('\n')), ""};
    }
}

}  // namespace mantissa::golden
