#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/sha256.h"
#include "data/batch_source.h"
#include "data/dataset.h"
#include "data/random.h"
#include "data/sample_order.h"
#include "data/split.h"
#include "data/tensor_hash.h"
#include "plan/catalogue.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

DatasetPlan named(const std::string& name, const std::string& file = "") {
    DatasetPlan plan;
    plan.name = name;
    plan.file = file;
    return plan;
}

std::string digest(const torch::Tensor& tensor) {
    Sha256 sha;
    sha.add(tensor.contiguous().const_data_ptr(), tensor.nbytes());
    return sha.hex();
}

nlohmann::json reference() {
    return nlohmann::json::parse(std::ifstream(MANTISSA_TEST_DATA "/core/data/reference_data.json"));
}

std::vector<std::int64_t> values(const torch::Tensor& tensor) {
    const auto* data = tensor.const_data_ptr<std::int64_t>();
    return {data, data + tensor.numel()};
}

TEST(Datasets, SameIdsAndSizesAsTheCatalogue) {
    EXPECT_EQ(registered_datasets(), catalogue::dataset_ids());
    for (const auto& entry : catalogue::datasets()) {
        const auto dataset = load_dataset(named(entry.id));
        ASSERT_TRUE(dataset.ok()) << describe(dataset.error());
        EXPECT_EQ(dataset->samples(), entry.samples);
        EXPECT_EQ(dataset->width(), entry.features);
        EXPECT_EQ(dataset->classes, entry.classes);
        EXPECT_EQ(dataset->labels.max().item<std::int64_t>(), entry.classes - 1);
    }
}

// reference_data.json is written by make_reference.py beside it.
TEST(Datasets, HoldPythonsBytes) {
    const auto expected = reference();
    for (const std::string& id : registered_datasets()) {
        const auto dataset = load_dataset(named(id));
        ASSERT_TRUE(dataset.ok());
        EXPECT_EQ(digest(dataset->features), expected["sets"][id]["features"]) << id;
        EXPECT_EQ(digest(dataset->labels), expected["sets"][id]["labels"]) << id;
    }
}

TEST(Datasets, RandpermIsPythons) {
    for (const auto& [seed, expected] : reference()["randperm_1437"].items()) {
        EXPECT_EQ(digest(seeded_permutation(1437, std::stoull(seed))), expected) << seed;
    }
}

class DataFile : public testing::Test {
  protected:
    void SetUp() override {
        m_file = std::filesystem::temp_directory_path() /
                 ("mantissa-data-test-" + std::to_string(getpid()) + ".csv");
    }
    void TearDown() override { std::filesystem::remove(m_file); }
    Result<Dataset> load(const std::string& form, const std::string& text) {
        std::ofstream(m_file) << text;
        return load_dataset(named(form, m_file));
    }
    static std::string row(const std::string& value, const std::string& label) {
        std::string text;
        for (int i = 0; i < 64; ++i) text += value + ",";
        return text + label + "\n";
    }
    std::filesystem::path m_file;
};

TEST_F(DataFile, OfOnesOwnInTheSameForm) {
    const auto dataset = load("digits", row("8", "0") + row("16", "9"));
    ASSERT_TRUE(dataset.ok()) << describe(dataset.error());
    EXPECT_EQ(dataset->samples(), 2);
    EXPECT_EQ(dataset->features[0][0].item<float>(), 0.5f);
    EXPECT_EQ(dataset->features[1][63].item<float>(), 1.0f);
    EXPECT_EQ(values(dataset->labels), (std::vector<std::int64_t>{0, 9}));
}

struct Damage {
    const char* name;
    std::string text;
    const char* says;
};

TEST_F(DataFile, DamageIsNamed) {
    const std::string good = row("8", "0");
    for (const Damage& damage :
         {Damage{"label", good + row("8", "10"), "line 2, column 65: 10 isn't a class from 0 to 9"},
          Damage{"half label", good + row("8", "0.5"), "line 2, column 65: 0.5"},
          Damage{"pixel", row("16.5", "0"), "line 1, column 1: 16.5 isn't a whole number from 0 to 16"},
          Damage{"negative", row("-1", "0"), "line 1, column 1: -1"},
          Damage{"word", good + row("x", "1"), "line 2"}, Damage{"cut", good + "8,8", "line 2"},
          Damage{"empty", "", ""}}) {
        const auto result = load("digits", damage.text);
        ASSERT_FALSE(result.ok()) << damage.name;
        EXPECT_EQ(result.error().code, ErrorCode::InputOutput) << damage.name;
        EXPECT_NE(result.error().message.find(damage.says), std::string::npos)
            << damage.name << ": " << result.error().message;
        EXPECT_NE(result.error().message.find(m_file.filename()), std::string::npos)
            << result.error().message;
    }
}

TEST_F(DataFile, MissingFileAndFormulaWithFile) {
    const auto missing = load_dataset(named("digits", "/nowhere/digits.csv"));
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("/nowhere/digits.csv"), std::string::npos);
    EXPECT_EQ(load("article-1", "1,2\n").error().code, ErrorCode::BadPlan);
    EXPECT_EQ(load_dataset(named("mnist")).error().code, ErrorCode::BadPlan);
}

TEST(Splits, DigitsGive1437And360InProportion) {
    const auto dataset = load_dataset(named("digits"));
    const auto split = split_dataset(*dataset, 0.2, 0);
    ASSERT_TRUE(split.ok());
    EXPECT_EQ(split->training.size(0), 1437);
    EXPECT_EQ(split->validation.size(0), 360);
    const auto all = torch::bincount(dataset->labels),
               held = torch::bincount(dataset->labels.index_select(0, split->validation));
    for (int digit = 0; digit < 10; ++digit) {
        EXPECT_NEAR(held[digit].item<double>(), 360.0 / 1797 * all[digit].item<double>(), 1.0) << digit;
    }
    std::set<std::int64_t> together;
    for (const auto& part : {split->training, split->validation}) {
        for (const std::int64_t index : values(part)) EXPECT_TRUE(together.insert(index).second);
    }
    EXPECT_EQ(together.size(), 1797u);
    EXPECT_EQ(*together.rbegin(), 1796);
}

TEST(Splits, SeedDecides) {
    const auto dataset = load_dataset(named("breast-cancer"));
    EXPECT_TRUE(torch::equal(split_dataset(*dataset, 0.2, 5)->validation,
                             split_dataset(*dataset, 0.2, 5)->validation));
    EXPECT_FALSE(torch::equal(split_dataset(*dataset, 0.2, 5)->validation,
                              split_dataset(*dataset, 0.2, 6)->validation));
    EXPECT_EQ(split_dataset(*dataset, 0, 5)->validation.size(0), 0);
    EXPECT_EQ(split_dataset(*dataset, 0, 5)->training.size(0), 569);
    EXPECT_EQ(split_dataset(*dataset, 1.0, 5).error().code, ErrorCode::BadPlan);
}

TEST(SampleOrders, EveryEpochIsAPermutationOfItsOwn) {
    const SampleOrder order(torch::arange(10, 50), 3);
    std::set<std::vector<std::int64_t>> orders;
    for (int epoch = 0; epoch < 5; ++epoch) {
        auto visited = values(order.epoch(epoch));
        EXPECT_EQ(visited, values(order.epoch(epoch)));
        EXPECT_TRUE(orders.insert(visited).second);
        std::sort(visited.begin(), visited.end());
        EXPECT_EQ(visited.front(), 10);
        EXPECT_EQ(visited.back(), 49);
        EXPECT_EQ(std::set<std::int64_t>(visited.begin(), visited.end()).size(), 40u);
    }
}

TEST(SampleOrders, NeighbouringSeedsShareNoEpoch) {
    std::set<std::uint64_t> seeds;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
            EXPECT_LE(order_seed(seed, epoch), 0xFFFFFFFFull);  // torch's CPU generator looks at 32 bits
            EXPECT_TRUE(seeds.insert(order_seed(seed, epoch)).second);
        }
    }
}

TEST(SampleOrders, HashTellsWhatIsVisited) {
    const SampleOrder order(torch::arange(100), 3);
    const std::string hash = order.hash(10, 8, 1);
    EXPECT_EQ(hash, SampleOrder(torch::arange(100), 3).hash(10, 8, 1));
    EXPECT_NE(hash, order.hash(11, 8, 1));
    EXPECT_NE(hash, order.hash(10, 4, 2));
    EXPECT_NE(hash, SampleOrder(torch::arange(100), 4).hash(10, 8, 1));
    EXPECT_NE(hash, SampleOrder(torch::arange(1, 101), 3).hash(10, 8, 1));
}

TEST(Batches, FollowTheOrderAndKeepTheShortOne) {
    Dataset dataset;
    dataset.features = torch::arange(10, torch::kFloat).unsqueeze(1);
    dataset.labels = torch::arange(10, torch::kLong);
    const SampleOrder order(torch::arange(10), 1);
    OrderedBatches batches(dataset, order, 4);
    EXPECT_EQ(batches.batches_per_epoch(), 3);
    for (std::int64_t epoch : {0, 1}) {
        batches.begin(epoch);
        std::vector<std::int64_t> visited, sizes;
        while (auto batch = batches.next()) {
            sizes.push_back(batch->labels.size(0));
            EXPECT_TRUE(torch::equal(batch->features.squeeze(1).to(torch::kLong), batch->labels));
            for (const std::int64_t label : values(batch->labels)) visited.push_back(label);
        }
        EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 4, 2}));
        EXPECT_EQ(visited, values(order.epoch(epoch)));
        EXPECT_FALSE(batches.next().has_value());
    }
}

TEST(Batches, SkippingMovesThePositionOnly) {
    Dataset dataset;
    dataset.features = torch::arange(10, torch::kFloat).unsqueeze(1);
    dataset.labels = torch::arange(10, torch::kLong);
    const SampleOrder order(torch::arange(10), 1);
    OrderedBatches batches(dataset, order, 4);
    EXPECT_EQ(batches.samples(), 10);
    EXPECT_EQ(batches.total_batch_size(), 4);
    const std::vector<std::int64_t> all = values(order.epoch(2));
    for (std::int64_t skipped = 0; skipped <= 4; ++skipped) {
        batches.begin(2);
        batches.skip(skipped);
        std::vector<std::int64_t> visited;
        while (auto batch = batches.next()) {
            for (const std::int64_t label : values(batch->labels)) visited.push_back(label);
        }
        const auto from = std::min<std::int64_t>(4 * skipped, 10);
        EXPECT_EQ(visited, std::vector<std::int64_t>(all.begin() + from, all.end()));
    }
}

TEST(TensorHash, SeesNamesTypesShapesAndBytes) {
    const auto base = torch::arange(6, torch::kFloat);
    const std::string hash = tensor_hash({{"a", base}});
    EXPECT_EQ(hash, tensor_hash({{"a", base.clone()}}));
    EXPECT_NE(hash, tensor_hash({{"b", base}}));
    EXPECT_NE(hash, tensor_hash({{"a", base.reshape({2, 3})}}));
    EXPECT_NE(hash, tensor_hash({{"a", base.to(torch::kDouble)}}));
    auto changed = base.clone();
    changed[5] = std::nextafter(5.0f, 6.0f);
    EXPECT_NE(hash, tensor_hash({{"a", changed}}));
}

}  // namespace
}  // namespace mantissa
