// A data file of somebody's, whatever it is: kind, labels, statistics, normalisation. The first byte chooses what the plan wishes.
#include <algorithm>
#include <numeric>

#include "samples/prepare.h"
#include "samples/statistics.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    if (size == 0) return 0;
    DatasetPlan plan;
    plan.missing = static_cast<MissingRule>(data[0] % 3);
    plan.target = static_cast<TargetWish>(data[0] / 3 % 3);
    plan.header = static_cast<TableHeader>(data[0] / 9 % 3);
    plan.normalise = static_cast<Normalise>(data[0] / 27 % 4);
    plan.context = 4;
    plan.file = fuzz::file_with("data", fuzz::text_of(data + 1, size - 1)).string();
    auto samples = read_samples(plan);
    if (!samples) return 0;
    const SampleFacts& facts = samples->facts;
    if (samples->features.size() != static_cast<std::uint64_t>(facts.samples * facts.width())) std::abort();
    if (facts.target == SampleTarget::Values ? static_cast<std::int64_t>(samples->values.size()) != facts.samples : samples->labels.empty()) std::abort();
    for (const std::int64_t label : samples->labels)
        if (label < 0 || label >= static_cast<std::int64_t>(facts.classes.size())) std::abort();
    const SampleStatistics statistics = describe_samples(*samples);
    if (std::accumulate(statistics.of_class.begin(), statistics.of_class.end(), std::int64_t{0}) != static_cast<std::int64_t>(samples->labels.size())) std::abort();
    std::vector<std::int64_t> all(static_cast<std::size_t>(facts.samples));
    std::iota(all.begin(), all.end(), 0);
    prepare_features({samples->features.data(), facts.samples, facts.width(), facts.are_bytes, facts.shape.size() > 1}, all, plan.normalise);
    return 0;
}
