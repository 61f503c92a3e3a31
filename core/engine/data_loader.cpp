#include "engine/data_loader.h"

#include <algorithm>

#include "engine/engine_error.h"
#include "engine/process_group.h"

namespace mantissa {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& help) {
    throw EngineError({ErrorCode::BadPlan, what, help});
}

void require_positive(std::int64_t batch_size) {
    if (batch_size < 1) {
        refuse("the loader's batch_size is " + std::to_string(batch_size), "use a whole number from 1 up");
    }
}

std::shared_ptr<BatchSampler> sampler_for(std::int64_t rows, const LoaderOptions& options) {
    if (options.batch_sampler) {
        if (options.batch_size != 1 || options.shuffle || options.drop_last || options.sampler) {
            refuse("a loader with a batch_sampler has batch_size, shuffle, drop_last or sampler too",
                   "leave them out: the batch sampler says all of it");
        }
        return options.batch_sampler;
    }
    if (options.sampler && options.shuffle) {
        refuse("a loader has both a sampler and shuffle", "leave shuffle out: the sampler gives the order");
    }
    std::shared_ptr<Sampler> sampler = options.sampler;
    if (!sampler && !options.shuffle) sampler = std::make_shared<SequentialSampler>(rows);
    if (!sampler && options.use_seedable_sampler) {
        sampler = std::make_shared<SeedableRandomSampler>(rows, options.data_seed);
    }
    if (!sampler) sampler = std::make_shared<RandomSampler>(rows, options.generator);
    return std::make_shared<SamplerBatches>(std::move(sampler), options.batch_size, options.drop_last);
}

torch::Tensor rows_of(const torch::Tensor& tensor, const torch::Tensor& rows) {
    return tensor.defined() ? tensor.index_select(0, rows.to(tensor.device())) : torch::Tensor();
}

torch::Tensor stacked(const std::vector<Batch>& samples, torch::Tensor Batch::*member) {
    if (!(samples.front().*member).defined()) return {};
    std::vector<torch::Tensor> tensors;
    tensors.reserve(samples.size());
    for (const auto& sample : samples) tensors.push_back(sample.*member);
    return torch::stack(tensors);
}

}  // namespace

Loader::Loader(torch::Tensor features, torch::Tensor labels, const LoaderOptions& options)
    : Loader(std::make_shared<TensorDataset>(std::move(features), std::move(labels)), options) {}

Loader::Loader(std::shared_ptr<MapDataset> dataset, const LoaderOptions& options) {
    if (!dataset) refuse("a Loader got no data set", "give it tensors, a MapDataset or an IterableDataset");
    auto sampler = sampler_for(dataset->size(), options);
    m_source = std::make_unique<IndexedBatches>(std::move(dataset), std::move(sampler), options);
}

Loader::Loader(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options) {
    if (!dataset) refuse("a Loader got no data set", "give it tensors, a MapDataset or an IterableDataset");
    if (options.shuffle || options.sampler || options.batch_sampler) {
        refuse("a loader of a stream has shuffle, a sampler or a batch_sampler",
               "a stream has its own order: shuffle inside it, or use a MapDataset");
    }
    m_source = std::make_unique<StreamBatches>(std::move(dataset), options);
}

TensorDataset::TensorDataset(torch::Tensor features, torch::Tensor labels)
    : m_features(std::move(features)), m_labels(std::move(labels)) {
    if (!m_features.defined() || m_features.dim() == 0) {
        refuse("the features of a loader have no rows", "their first dimension counts the samples");
    }
    if (m_labels.defined() && (m_labels.dim() == 0 || m_labels.size(0) != m_features.size(0))) {
        refuse("a loader got " + std::to_string(m_features.size(0)) + " rows of features and " +
                   (m_labels.dim() == 0 ? "one label" : std::to_string(m_labels.size(0)) + " labels"),
               "each row of features has one label");
    }
}

Batch TensorDataset::get(const Indices& rows) {
    const auto bad = std::find_if(rows.begin(), rows.end(), [&](auto row) { return row < 0 || row >= size(); });
    if (bad != rows.end()) {
        refuse("the sampler asked for row " + std::to_string(*bad) + " of " + std::to_string(size()), "rows count from 0");
    }
    const auto indices = torch::from_blob(const_cast<std::int64_t*>(rows.data()),
                                          {static_cast<std::int64_t>(rows.size())}, at::kLong);
    return {rows_of(m_features, indices), rows_of(m_labels, indices)};
}

IndexedBatches::IndexedBatches(std::shared_ptr<MapDataset> dataset, std::shared_ptr<BatchSampler> sampler,
                               const LoaderOptions& options)
    : m_dataset(std::move(dataset)),
      m_sampler(std::move(sampler)),
      m_generator(options.generator),
      m_non_blocking(options.non_blocking) {}

void IndexedBatches::begin(std::int64_t epoch) {
    m_dataset->set_epoch(epoch);
    m_sampler->synchronize();
    static_cast<void>(draw_seed(m_generator));  // Python's loader draws one for its workers, whether it has any or not
    m_sampler->begin(epoch);
}

void IndexedBatches::resume(std::int64_t epoch, std::int64_t batches) {
    m_dataset->set_epoch(epoch);
    m_sampler->begin_again(epoch);
    m_sampler->skip(batches);
}

std::optional<Batch> IndexedBatches::next() {
    const auto rows = m_sampler->next();
    return rows ? std::optional(m_dataset->get(*rows)) : std::nullopt;
}

std::optional<std::int64_t> IndexedBatches::samples() const {
    const auto known = m_sampler->samples();
    return known ? known : m_dataset->size();
}

std::optional<std::int64_t> IndexedBatches::total_batch_size() const {
    const auto size = m_sampler->batch_size();
    return size ? std::optional(*size * m_batches_at_once) : std::nullopt;
}

void IndexedBatches::divide(const Division& division) {
    m_sampler->prepare(division);
    if (!division.processes || division.processes->size() == 1) return;
    const std::int64_t processes = division.processes->size();
    m_sampler = std::make_shared<BatchSamplerShard>(std::move(m_sampler), processes, division.processes->rank(),
                                                    division.split_batches, division.even_batches);
    m_batches_at_once = division.split_batches ? 1 : processes;
}

StreamBatches::StreamBatches(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options)
    : m_dataset(std::move(dataset)),
      m_drop_last(options.drop_last),
      m_non_blocking(options.non_blocking),
      m_batch_size(options.batch_size),
      m_round(options.batch_size) {
    require_positive(m_batch_size);
}

void StreamBatches::divide(const Division& division) {
    if (!division.processes || division.processes->size() == 1) return;
    m_processes = division.processes->size();
    m_rank = division.processes->rank();
    if (!division.split_batches) {
        m_round = m_batch_size * m_processes;
    } else if (m_batch_size % m_processes == 0) {
        m_batch_size /= m_processes;
    } else {
        refuse("split_batches: the batch size is " + std::to_string(m_batch_size) + ", which can't be divided by " +
                   std::to_string(m_processes) + " processes",
               "use a batch size that is a multiple of the number of processes, or split_batches = false");
    }
}

void StreamBatches::begin(std::int64_t epoch) {
    static_cast<void>(draw_seed());
    resume(epoch, 0);
}

void StreamBatches::resume(std::int64_t epoch, std::int64_t batches) {
    m_first_round.clear();
    m_has_ended = false;
    m_dataset->begin(epoch);
    skip(batches);
}

void StreamBatches::skip(std::int64_t batches) {
    while (batches-- > 0 && next_batch(false)) {
    }
}

std::optional<Batch> StreamBatches::next_batch(bool is_wanted) {
    std::vector<Batch> round;
    while (!m_has_ended && static_cast<std::int64_t>(round.size()) < m_round) {
        auto sample = m_dataset->next();
        m_has_ended = !sample;
        if (sample) round.push_back(std::move(*sample));
    }
    if (round.empty() || (m_drop_last && static_cast<std::int64_t>(round.size()) < m_round)) return std::nullopt;
    if (m_processes > 1) {
        if (m_first_round.empty()) m_first_round = round;
        for (std::size_t i = 0; static_cast<std::int64_t>(round.size()) < m_round; ++i) {
            round.push_back(m_first_round[i % m_first_round.size()]);
        }
        const auto first = round.begin() + static_cast<std::ptrdiff_t>(m_rank * m_batch_size);
        round = std::vector<Batch>(first, first + static_cast<std::ptrdiff_t>(m_batch_size));
    }
    return is_wanted ? Batch{stacked(round, &Batch::features), stacked(round, &Batch::labels)} : Batch{};
}

std::optional<std::int64_t> StreamBatches::batches() const {
    const auto samples = m_dataset->size();
    if (!samples) return std::nullopt;
    return m_drop_last ? *samples / m_round : (*samples + m_round - 1) / m_round;
}

}  // namespace mantissa
