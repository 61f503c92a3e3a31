#include "engine/prepared_loader.h"

#include <algorithm>

#include "engine/engine_error.h"
#include "engine/misuse.h"
#include "engine/process_group.h"
#include "engine/readback.h"

namespace mantissa {
namespace {

constexpr std::int64_t unknown = -1;
constexpr const char* source_prefix = "source.";

at::Generator default_generator() { return at::globalContext().defaultGenerator(at::kCPU); }

/// For the time of a block the default generator stands where it stood before a batch was looked ahead.
class GeneratorAt {
  public:
    explicit GeneratorAt(const torch::Tensor& state) : m_now(default_generator().get_state()) {
        default_generator().set_state(state);
    }
    ~GeneratorAt() { default_generator().set_state(m_now); }
    GeneratorAt(const GeneratorAt&) = delete;
    GeneratorAt& operator=(const GeneratorAt&) = delete;

  private:
    torch::Tensor m_now;
};

StateBundle part_of_source(const StateBundle& bundle) {
    const std::string prefix = source_prefix;
    StateBundle part;
    for (const auto& [name, fact] : bundle.facts) {
        if (name.starts_with(prefix)) part.facts.emplace(name.substr(prefix.size()), fact);
    }
    for (const auto& [name, tensor] : bundle.tensors) {
        if (name.starts_with(prefix)) part.tensors.emplace_back(name.substr(prefix.size()), tensor);
    }
    return part;
}

}  // namespace

void BatchSource::divide(const Division& division) {
    if (!division.processes || division.processes->size() == 1) return;
    throw EngineError({ErrorCode::BadPlan,
                       "this loader's source can't be divided among " + std::to_string(division.processes->size()) + " processes",
                       "make the Loader from a data set (tensors, MapDataset or IterableDataset), or give the source divide()"});
}

void ActiveLoaders::begin(const LoaderCore* loader) {
    end(loader);
    m_loaders.push_back(loader);
}

void ActiveLoaders::end(const LoaderCore* loader) { std::erase(m_loaders, loader); }

bool ActiveLoaders::end_of_data() const {
    return m_loaders.empty() ? m_by_hand : m_loaders.back()->end_of_dataloader();
}

std::int64_t ActiveLoaders::remainder() const { return m_loaders.empty() ? unknown : m_loaders.back()->remainder(); }

LoaderCore::LoaderCore(std::shared_ptr<ActiveLoaders> active, Placement placement, std::unique_ptr<BatchSource> source,
                       const Division& division)
    : m_active(std::move(active)), m_placement(placement), m_source(std::move(source)) {
    if (division.processes) m_processes = division.processes->size();
    m_source->divide(division);
}

LoaderCore::~LoaderCore() { m_active->end(this); }

std::optional<Batch> LoaderCore::fetch() {
    if (m_source->draws_random_numbers()) m_generator_before_ahead = default_generator().get_state();
    auto batch = m_source->next();
    if (batch && m_placement.moves && !m_placement.device.is_cpu()) {
        for (auto* tensor : {&batch->features, &batch->labels}) {
            if (tensor->defined()) *tensor = sent_to(*tensor, m_placement.device);
        }
    }
    return batch;
}

void LoaderCore::start_pass(std::int64_t skip) {
    const bool resumes = m_is_restored && m_is_open;
    m_is_restored = false;
    m_ahead.reset();
    if (!resumes) m_pass_epoch = m_epoch;
    m_consumed = skip > 0 || !resumes ? skip : m_consumed;
    m_is_open = m_is_inside = true;
    m_is_at_end = false;
    const auto samples = m_source->samples(), total = m_source->total_batch_size();
    m_remainder = samples && total && *total > 0 && !m_source->drops_last() ? *samples % *total : unknown;
    m_active->begin(this);
    if (resumes) {
        m_source->resume(m_pass_epoch, m_consumed);
    } else {
        m_source->begin(m_pass_epoch);
        if (skip > 0) m_source->skip(skip);
    }
    if (resumes && m_generator_before_ahead.defined()) {
        const GeneratorAt before(m_generator_before_ahead);
        m_ahead = fetch();
    } else {
        m_ahead = fetch();
    }
}

std::optional<Batch> LoaderCore::next() {
    if (!m_is_inside) return std::nullopt;
    if (!m_ahead) {
        m_is_open = false;
        ++m_epoch;
        leave_pass();
        return std::nullopt;
    }
    std::optional<Batch> current = std::move(m_ahead);
    m_ahead = fetch();
    ++m_consumed;
    m_is_at_end = !m_ahead;
    return current;
}

void LoaderCore::leave_pass() {
    if (!m_is_inside) return;
    m_is_inside = false;
    m_ahead.reset();
    m_active->end(this);
}

StateBundle LoaderCore::state() const {
    const bool is_open = m_is_open && !m_is_at_end;
    StateBundle bundle;
    bundle.facts["epoch"] = m_is_open && m_is_at_end ? m_epoch + 1 : m_epoch;
    bundle.facts["is_open"] = is_open;
    bundle.facts["pass_epoch"] = is_open ? m_pass_epoch : std::int64_t{0};
    bundle.facts["consumed"] = is_open ? m_consumed : std::int64_t{0};
    bundle.facts["processes"] = m_processes;
    bundle.facts["samples"] = m_source->samples().value_or(unknown);
    bundle.facts["total_batch_size"] = m_source->total_batch_size().value_or(unknown);
    StateBundle source = m_source->state();
    for (auto& [name, fact] : source.facts) bundle.facts.emplace(source_prefix + name, std::move(fact));
    for (auto& [name, tensor] : source.tensors) bundle.tensors.emplace_back(source_prefix + name, std::move(tensor));
    if (is_open && m_generator_before_ahead.defined()) bundle.tensors.emplace_back("generator", m_generator_before_ahead);
    return bundle;
}

void LoaderCore::refuse_other_batches(const StateBundle& bundle) const {
    const auto refuse = [](const char* what, std::int64_t saved, std::int64_t now) {
        if (saved != now) {
            throw EngineError({ErrorCode::BadPlan,
                               std::string("the saved loader was in the middle of a pass with ") + what + " " +
                                   std::to_string(saved) + ", this one has " + std::to_string(now),
                               "go on with the same data, batch size and number of processes, or leave the loader's state out"});
        }
    };
    refuse("processes:", bundle.fact<std::int64_t>("processes"), m_processes);
    refuse("samples:", bundle.fact<std::int64_t>("samples"), m_source->samples().value_or(unknown));
    refuse("total batch size:", bundle.fact<std::int64_t>("total_batch_size"), m_source->total_batch_size().value_or(unknown));
}

void LoaderCore::load_state(const StateBundle& bundle) {
    const auto epoch = bundle.fact<std::int64_t>("epoch"), pass_epoch = bundle.fact<std::int64_t>("pass_epoch");
    const auto consumed = bundle.fact<std::int64_t>("consumed");
    const bool is_open = bundle.fact<bool>("is_open");
    if (epoch < 0 || pass_epoch < 0 || consumed < 0) {
        throw EngineError({ErrorCode::BadPlan,
                           "the saved loader's epoch " + std::to_string(epoch) + ", epoch of the pass " +
                               std::to_string(pass_epoch) + " and position " + std::to_string(consumed) + " must be 0 or more",
                           "the checkpoint is damaged: use the one before"});
    }
    if (is_open) refuse_other_batches(bundle);
    m_source->load_state(part_of_source(bundle));
    leave_pass();
    m_epoch = epoch;
    m_pass_epoch = pass_epoch;
    m_consumed = consumed;
    m_is_open = m_is_restored = is_open;
    m_is_at_end = false;
    const torch::Tensor* generator = bundle.tensor("generator");
    m_generator_before_ahead = generator != nullptr ? generator->clone() : torch::Tensor();
}

std::optional<std::int64_t> PreparedLoader::length() const {
    const auto batches = m_core->source().batches();
    return batches ? std::optional(std::max<std::int64_t>(0, *batches - m_skip)) : std::nullopt;
}

LoaderCore& PreparedLoader::live() const {
    if (!m_core) misuse::refuse_released("a loader");
    return *m_core;
}

PreparedLoader skip_first_batches(const PreparedLoader& loader, std::int64_t batches) {
    if (batches < 0) {
        throw EngineError({ErrorCode::BadPlan, "skip_first_batches was asked for " + std::to_string(batches) + " batches",
                           "use 0 or more"});
    }
    return PreparedLoader(loader.m_core, loader.m_skip + batches);
}

}  // namespace mantissa
