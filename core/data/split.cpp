#include "data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "data/random.h"
#include "plan/catalogue.h"

namespace mantissa {
namespace {

// Whole numbers that add up to `total`, in proportion to `counts`.
std::vector<std::int64_t> largest_remainders(const std::vector<std::int64_t>& counts, std::int64_t total) {
    const double all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    std::vector<std::int64_t> quotas;
    std::vector<double> remainders;
    for (const std::int64_t count : counts) {
        const double exact = static_cast<double>(total) * static_cast<double>(count) / all;
        quotas.push_back(static_cast<std::int64_t>(std::floor(exact)));
        remainders.push_back(exact - std::floor(exact));
    }
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    std::int64_t missing = total - std::accumulate(quotas.begin(), quotas.end(), std::int64_t{0});
    for (std::size_t i = 0; missing > 0; ++i, --missing) ++quotas[order[i % order.size()]];
    return quotas;
}

torch::Tensor indices(const std::vector<std::int64_t>& values) {
    return torch::tensor(values, torch::kLong);
}

}  // namespace

Result<Split> split_dataset(const Dataset& dataset, double share, std::uint64_t seed) {
    const std::int64_t samples = dataset.samples();
    const std::int64_t held_out = catalogue::held_out_samples(samples, share);
    if (held_out >= samples) {
        return Error{ErrorCode::BadPlan,
                     "dataset.validation is " + to_text(share) + ", which leaves none of the " +
                         std::to_string(samples) + " samples of " + dataset.name + " for training",
                     "use a share from 0 up to 0.5"};
    }
    // Values and tokens have no classes to keep in proportion: their samples are as one class.
    const bool has_classes = dataset.target == SampleTarget::Classes;
    const torch::Tensor labels = has_classes ? dataset.labels.contiguous() : torch::zeros({samples}, torch::kLong);
    const std::int64_t* label = labels.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> counts(static_cast<std::size_t>(has_classes ? dataset.classes : 1), 0);
    for (std::int64_t i = 0; i < samples; ++i) ++counts[static_cast<std::size_t>(label[i])];
    std::vector<std::int64_t> open = largest_remainders(counts, held_out);

    const torch::Tensor order = seeded_permutation(samples, seed);
    const std::int64_t* position = order.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> training, validation;
    for (std::int64_t i = 0; i < samples; ++i) {
        std::int64_t& left = open[static_cast<std::size_t>(label[position[i]])];
        (left > 0 ? validation : training).push_back(position[i]);
        if (left > 0) --left;
    }
    std::sort(training.begin(), training.end());
    std::sort(validation.begin(), validation.end());
    return Split{indices(training), indices(validation)};
}

}  // namespace mantissa
