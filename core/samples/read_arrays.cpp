#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "formats/array_reader.h"
#include "plan/nearest.h"
#include "samples/labels.h"
#include "samples/readers.h"

namespace mantissa::samples {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block_values = 64 * 1024;

struct Pair {
    ArrayReader features, labels;
    std::string labels_name;
};

/// IDX and npy files of labels lie beside those of features, with a name that differs by one word.
std::optional<fs::path> labels_beside(const fs::path& features) {
    static constexpr std::array<std::pair<const char*, const char*>, 5> words{
        {{"images-idx3", "labels-idx1"}, {"images", "labels"}, {"features", "labels"}, {"data", "labels"}, {"X", "y"}}};
    const std::string name = features.filename().string();
    std::vector<std::string> names;
    for (const auto& [word, instead] : words) {
        if (const auto at = name.find(word); at != std::string::npos) names.push_back(std::string(name).replace(at, std::string_view(word).size(), instead));
    }
    if (name.starts_with("x.") || name.starts_with("x_")) names.push_back("y" + name.substr(1));
    for (const std::string& candidate : names) {
        std::error_code ignored;
        if (fs::is_regular_file(features.parent_path() / candidate, ignored)) return features.parent_path() / candidate;
        const std::string other = candidate.ends_with(".gz") ? candidate.substr(0, candidate.size() - 3) : candidate + ".gz";
        if (fs::is_regular_file(features.parent_path() / other, ignored)) return features.parent_path() / other;
    }
    return std::nullopt;
}

Result<ArrayReader> open_single(const fs::path& file) {
    const auto kind = file_kind(file);
    if (!kind) return kind.error();
    if (*kind == FileKind::Idx) return open_idx(file);
    if (*kind == FileKind::Npy) return open_npy(file);
    return Error{ErrorCode::BadPlan, "dataset.labels is \"" + file.string() + "\", which is neither an IDX nor an npy file", "labels of such a file are one of the two"};
}

Result<Pair> open_two_files(const DatasetPlan& plan) {
    fs::path labels = plan.labels;
    if (labels.empty()) {
        const auto found = labels_beside(plan.file);
        if (!found)
            return Error{ErrorCode::BadPlan, plan.file + " holds features alone, and no file of labels lies beside it", "name it: dataset.labels FILE"};
        labels = *found;
    } else if (labels.is_relative()) {
        labels = fs::path(plan.file).parent_path() / labels;
    }
    auto x = open_single(plan.file);
    if (!x) return x.error();
    auto y = open_single(labels);
    if (!y) return y.error();
    return Pair{std::move(*x), std::move(*y), labels.filename().string()};
}

/// The array that is called like one of features, and the one that is called like one of labels.
Result<Pair> open_one_file(const DatasetPlan& plan, FileKind kind) {
    const fs::path file = plan.file;
    const auto names = kind == FileKind::Npz ? npz_names(file) : tensor_names(file);
    if (!names) return names.error();
    const auto named = [&names](std::initializer_list<const char*> words) {
        for (const char* word : words) {
            if (std::find(names->begin(), names->end(), word) != names->end()) return std::string(word);
        }
        return std::string();
    };
    std::string features = named({"x", "X", "features", "images", "data", "inputs", "x_train", "X_train"});
    std::string labels = named({"y", "Y", "labels", "label", "targets", "target", "y_train", "Y_train"});
    if (!plan.labels.empty()) {
        labels = named({plan.labels.c_str()});
        if (labels.empty()) {
            const auto nearest = nearest_names(plan.labels, *names);
            return Error{ErrorCode::BadPlan, "dataset.labels is \"" + plan.labels + "\", which no array in " + plan.file + " is called",
                         nearest.empty() ? "its arrays are " + join_names(*names) : "did you mean " + join_names(nearest) + "?"};
        }
    }
    // Of two arrays the one that isn't the labels holds the features.
    if (features.empty() && !labels.empty() && names->size() == 2) features = (*names)[0] == labels ? (*names)[1] : (*names)[0];
    if (features.empty() || labels.empty() || features == labels)
        return Error{ErrorCode::BadPlan, plan.file + " holds " + (names->empty() ? "no array" : "the arrays " + join_names(*names)) + ", none of which is plainly " + (labels.empty() ? "labels" : "features"),
                     "call them x and y, or name the labels: dataset.labels"};
    const auto open = [kind, &file](const std::string& name) { return kind == FileKind::Npz ? open_npz(file, name) : open_tensor(file, name); };
    auto x = open(features);
    if (!x) return x.error();
    auto y = open(labels);
    if (!y) return y.error();
    return Pair{std::move(*x), std::move(*y), labels};
}

Result<void> check_shapes(const Pair& pair) {
    const auto& x = pair.features.shape();
    const auto& y = pair.labels.shape();
    if (x.empty() || (x.size() == 1 && y.size() == 1 && x[0] != y[0]) || elements_of(x).value_or(0) == 0)
        return pair.features.error("holds " + shape_text(x) + ", which is no array of samples", "its first size counts the samples");
    const bool is_column = y.size() == 1 || (y.size() == 2 && y[1] == 1);
    if (!is_column)
        return pair.labels.error("holds labels of " + shape_text(y) + ", one number a sample is needed",
                                 y.size() == 2 && y[0] == x[0] ? "of one-hot labels save the place of the one: y.argmax(1)" : "");
    if (y[0] != x[0])
        return Error{ErrorCode::InputOutput, pair.features.name() + " holds " + std::to_string(x[0]) + " samples, " + pair.labels.name() + " " + std::to_string(y[0]) + " labels", "they don't belong together"};
    return {};
}

/// Images of one channel are files of height × width; layers want channel × height × width.
std::vector<std::int64_t> sample_shape(const std::vector<std::int64_t>& array) {
    std::vector<std::int64_t> shape(array.begin() + 1, array.end());
    if (shape.empty()) shape = {1};
    if (shape.size() == 2) shape.insert(shape.begin(), 1);
    return shape;
}

class ArraySamples {
  public:
    ArraySamples(Pair pair, const DatasetPlan& plan, const SampleLimits& limits)
        : m_pair(std::move(pair)), m_plan(plan), m_samples{{}, FloatStore(limits.bytes_in_memory), {}, {}}, m_limits(limits) {}
    Result<Samples> read();

  private:
    Result<void> read_labels(std::int64_t count);
    Result<void> read_features(std::int64_t count, std::int64_t width);
    Result<bool> keeps(const double* row, std::int64_t width, std::int64_t sample);

    Pair m_pair;
    const DatasetPlan& m_plan;
    Samples m_samples;
    SampleLimits m_limits;
    std::vector<double> m_labels;
};

Result<void> ArraySamples::read_labels(std::int64_t count) {
    m_labels.resize(static_cast<std::size_t>(count));
    return m_pair.labels.read(count, m_labels.data());
}

// NaN is the value that isn't there; an infinite one is refused, as in a table.
Result<bool> ArraySamples::keeps(const double* row, std::int64_t width, std::int64_t sample) {
    const std::string where = "sample " + std::to_string(sample) + ", value ";
    std::int64_t missing = 0;
    for (std::int64_t i = 0; i < width; ++i) {
        if (std::isnan(row[i])) {
            if (m_plan.missing == MissingRule::Drop) return false;
            if (m_plan.missing == MissingRule::Refuse)
                return m_pair.features.error(where + std::to_string(i) + ": NaN", "leave such samples out: dataset.missing drop, or put the mean there: dataset.missing mean");
            ++missing;
        } else if (std::abs(row[i]) > std::numeric_limits<float>::max()) {
            return m_pair.features.error(where + std::to_string(i) + ": " + to_text(row[i]) + " is more than fp32 can hold", "scale the values, or leave such samples out");
        }
    }
    m_samples.facts.missing += missing;
    return true;
}

Result<void> ArraySamples::read_features(std::int64_t count, std::int64_t width) {
    const std::int64_t rows_at_once = std::max<std::int64_t>(1, block_values / width);
    std::vector<double> block(static_cast<std::size_t>(std::min(rows_at_once, count) * width));
    std::vector<float> row(static_cast<std::size_t>(width));
    LabelCollector labels;
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t now = std::min(rows_at_once, count - done);
        if (auto read = m_pair.features.read(now * width, block.data()); !read) return read;
        for (std::int64_t i = 0; i < now; ++i, ++done) {
            const double* values = block.data() + i * width;
            const auto kept = keeps(values, width, done);
            if (!kept) return kept.error();
            const double label = m_labels[static_cast<std::size_t>(done)];
            if (std::isnan(label) && m_plan.missing != MissingRule::Drop) return m_pair.labels.error("label " + std::to_string(done) + ": NaN", "leave such samples out: dataset.missing drop");
            if (!*kept || std::isnan(label)) {
                ++m_samples.facts.dropped;
                continue;
            }
            std::copy(values, values + width, row.begin());
            if (auto added = m_samples.features.append(row); !added) return added;
            labels.add(label);
            ++m_samples.facts.samples;
        }
    }
    if (m_samples.facts.samples == 0) return m_pair.features.error("has no sample without missing values", "put means there: dataset.missing mean");
    if (auto done = labels.finish(m_plan.target, m_limits.most_samples != 0, m_samples); !done)
        return Error{done.error().code, m_pair.labels.name() + " " + done.error().message, done.error().hint};
    return {};
}

Result<Samples> ArraySamples::read() {
    if (auto fits = check_shapes(m_pair); !fits) return fits.error();
    SampleFacts& facts = m_samples.facts;
    const auto& array = m_pair.features.shape();
    const std::int64_t all = array.front(), width = m_pair.features.elements() / all;
    const std::int64_t count = m_limits.most_samples == 0 ? all : std::min(all, m_limits.most_samples);
    facts.element = to_string(m_pair.features.type());
    facts.shape = sample_shape(array);
    facts.target_name = m_pair.labels_name;
    facts.are_bytes = m_pair.features.type() == ElementType::U8;
    // A header may claim what the file hasn't: memory is taken as bytes arrive.
    if (auto done = read_labels(count); !done) return done.error();
    if (auto done = read_features(count, width); !done) return done.error();
    if (count == all) {
        for (ArrayReader* array_of : {&m_pair.features, &m_pair.labels})
            if (auto done = array_of->expect_end(); !done) return done.error();
    }
    return std::move(m_samples);
}

}  // namespace

Result<Samples> read_arrays(const DatasetPlan& plan, FileKind kind, const SampleLimits& limits) {
    auto pair = kind == FileKind::Idx || kind == FileKind::Npy ? open_two_files(plan) : open_one_file(plan, kind);
    if (!pair) return pair.error();
    auto samples = ArraySamples(std::move(*pair), plan, limits).read();
    if (samples) samples->facts.format = to_string(kind);
    return samples;
}

}  // namespace mantissa::samples
