#include "engine/synced_batch_norm.h"

#include "torch_pch.h"

namespace mantissa {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr c10::DispatchKey sync_key = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

thread_local std::shared_ptr<ProcessGroup> t_group;

// What autograd keeps of a forward pass beside tensors.
struct GroupHolder : torch::CustomClassHolder {
    explicit GroupHolder(std::shared_ptr<ProcessGroup> held) : group(std::move(held)) {}
    std::shared_ptr<ProcessGroup> group;
};

std::vector<std::int64_t> all_but_channels(const Tensor& input) {
    std::vector<std::int64_t> dimensions{0};
    for (std::int64_t i = 2; i < input.dim(); ++i) dimensions.push_back(i);
    return dimensions;
}

// [channels] beside an input: 1 × channels × 1 …
Tensor beside(const Tensor& values, const Tensor& input) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
    shape[1] = values.numel();
    return values.reshape(shape);
}

struct Statistics {
    Tensor mean, variance;  // double, [channels]; the variance is that of the samples (biased)
    double count = 0;       // values per channel, of all processes
};

Statistics statistics_of_all(const Tensor& input, ProcessGroup& group) {
    const std::int64_t channels = input.size(1);
    const std::int64_t count = channels == 0 ? 0 : input.numel() / channels;
    const auto as_double = input.options().dtype(at::kDouble);
    Tensor own = at::zeros({2 * channels + 1}, as_double);
    if (count > 0) {
        const auto [variance, mean] = at::var_mean(input, all_but_channels(input), /*correction=*/0);
        own.slice(0, 0, channels).copy_(mean);
        own.slice(0, channels, 2 * channels).copy_(variance).mul_(static_cast<double>(count));
        own[2 * channels].fill_(static_cast<double>(count));
    }
    const Tensor all = at::stack(group.all_gather(own));  // processes × (mean, deviations, count)
    const Tensor counts = all.slice(1, 2 * channels).contiguous();
    const Tensor means = all.slice(1, 0, channels), deviations = all.slice(1, channels, 2 * channels);
    Statistics result;
    result.count = counts.sum().item<double>();
    result.mean = (means * counts).sum(0) / result.count;
    result.variance = (deviations + counts * (means - result.mean).square()).sum(0) / result.count;
    return result;
}

class SyncedBatchNorm : public torch::autograd::Function<SyncedBatchNorm> {
  public:
    // Empty optionals: autograd takes no undefined tensor for an argument.
    static Tensor forward(AutogradContext* context, const Tensor& input, const std::optional<Tensor>& given_weight,
                          const std::optional<Tensor>& given_bias, const std::optional<Tensor>& given_mean,
                          const std::optional<Tensor>& given_var, double momentum, double eps) {
        const Tensor weight = given_weight.value_or(Tensor()), bias = given_bias.value_or(Tensor());
        Tensor running_mean = given_mean.value_or(Tensor()), running_var = given_var.value_or(Tensor());
        // Statistics and the line are computed in fp32 whatever the input is, as torch's own kernels do.
        const at::ScalarType computed = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
        const Tensor values = input.to(computed);
        const Statistics statistics = statistics_of_all(values, *t_group);
        const Tensor mean = statistics.mean.to(computed);
        const Tensor deviation = (statistics.variance + eps).rsqrt().to(computed);
        if (running_mean.defined()) running_mean.mul_(1 - momentum).add_(statistics.mean.to(running_mean.scalar_type()), momentum);
        if (running_var.defined()) {
            const Tensor unbiased = statistics.variance * (statistics.count / (statistics.count - 1));
            running_var.mul_(1 - momentum).add_(unbiased.to(running_var.scalar_type()), momentum);
        }
        Tensor output = (values - beside(mean, input)) * beside(deviation, input);
        if (weight.defined()) output = output * beside(weight.to(computed), input);
        if (bias.defined()) output = output + beside(bias.to(computed), input);
        context->save_for_backward({input, weight, mean, deviation});
        context->saved_data["count"] = statistics.count;
        context->saved_data["bias"] = bias.defined() ? bias.scalar_type() : at::ScalarType::Undefined;
        context->saved_data["group"] = c10::IValue::make_capsule(c10::make_intrusive<GroupHolder>(t_group));
        return output.to(input.scalar_type());
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const Tensor& input = saved[0];
        const Tensor& weight = saved[1];
        const Tensor& mean = saved[2];
        const Tensor& deviation = saved[3];
        const double count = context->saved_data["count"].toDouble();
        const auto holder = c10::static_intrusive_pointer_cast<GroupHolder>(context->saved_data["group"].toCapsule());
        const Tensor arriving = gradients[0].to(mean.scalar_type());
        const Tensor normal = (input.to(mean.scalar_type()) - beside(mean, input)) * beside(deviation, input);
        const std::vector<std::int64_t> dimensions = all_but_channels(input);
        const Tensor of_bias = arriving.sum(dimensions), of_weight = (arriving * normal).sum(dimensions);
        // The statistics were those of all processes, so what they pass back is the sum over all.
        Tensor sums = at::cat({of_bias, of_weight}).to(at::kDouble);
        holder->group->all_reduce(sums, ReduceOperation::Sum);
        const std::int64_t channels = mean.numel();
        const Tensor mean_gradient = (sums.slice(0, 0, channels) / count).to(mean.scalar_type());
        const Tensor mean_product = (sums.slice(0, channels) / count).to(mean.scalar_type());
        Tensor of_input = (arriving - beside(mean_gradient, input) - normal * beside(mean_product, input)) * beside(deviation, input);
        if (weight.defined()) of_input = of_input * beside(weight.to(mean.scalar_type()), input);
        const auto bias_type = static_cast<at::ScalarType>(context->saved_data["bias"].toInt());
        return {of_input.to(input.scalar_type()),
                weight.defined() ? of_weight.to(weight.scalar_type()) : Tensor(),
                bias_type != at::ScalarType::Undefined ? of_bias.to(bias_type) : Tensor(),
                Tensor(), Tensor(), Tensor(), Tensor()};
    }
};

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training, double momentum,
                  double eps, bool cudnn_enabled) {
    const c10::impl::ExcludeDispatchKeyGuard below(sync_key);
    if (!training || !t_group || !at::GradMode::is_enabled() || input.dim() < 2) {
        return at::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled);
    }
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    return SyncedBatchNorm::apply(input, weight, bias, running_mean, running_var, momentum, eps);
}

// Once, and only in a process that needs it: the key is a line in the table of every op.
void take_over_batch_norm() {
    static const bool is_done = [] {
        static torch::Library others(torch::Library::IMPL, "_", sync_key, __FILE__, __LINE__);
        others.fallback(torch::CppFunction::makeFallthrough());
        static torch::Library library(torch::Library::IMPL, "aten", sync_key, __FILE__, __LINE__);
        library.impl("batch_norm", &batch_norm);
        return true;
    }();
    static_cast<void>(is_done);
}

}  // namespace

struct SyncedBatchNormScope::State {
    explicit State(std::shared_ptr<ProcessGroup> group) : previous(std::exchange(t_group, std::move(group))), key(sync_key) {}
    ~State() { t_group = std::move(previous); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::shared_ptr<ProcessGroup> previous;
    c10::impl::IncludeDispatchKeyGuard key;
};

SyncedBatchNormScope::SyncedBatchNormScope(std::shared_ptr<ProcessGroup> group) {
    take_over_batch_norm();
    m_state = std::make_unique<State>(std::move(group));
}

SyncedBatchNormScope::~SyncedBatchNormScope() = default;

}  // namespace mantissa
