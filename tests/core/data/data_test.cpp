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
#include "tests/support/temporary_folder.h"
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
        if (!entry.package.empty() && !std::filesystem::exists(entry.file)) {
            ASSERT_FALSE(dataset.ok());
            EXPECT_EQ(dataset.error().message, "dataset.name is \"" + entry.id + "\", whose files aren't here (" + entry.file + ")");
            EXPECT_EQ(dataset.error().hint, "apt install " + entry.package + ", or name your own copy of them in dataset.file");
            continue;
        }
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
    for (const auto& [id, digests] : expected["sets"].items()) {
        const auto dataset = load_dataset(named(id));
        ASSERT_TRUE(dataset.ok());
        EXPECT_EQ(digest(dataset->features), expected["sets"][id]["features"]) << id;
        EXPECT_EQ(digest(dataset->labels), expected["sets"][id]["labels"]) << id;
    }
}

// Figures by numpy: the sum of the images' bytes and of the labels; the text's characters as whole numbers in their order.
TEST(Datasets, PicturesAndTextAreWhatTheyAre) {
    auto pictures = load_dataset(named("fashion-mnist-part"));
    ASSERT_TRUE(pictures.ok()) << describe(pictures.error());
    EXPECT_EQ(pictures->features.sum(torch::kDouble).item<double>(), 345057104);
    EXPECT_EQ(pictures->labels.sum().item<std::int64_t>(), 26967);
    EXPECT_EQ(pictures->sample_shape, (std::vector<std::int64_t>{1, 28, 28}));
    prepare_dataset(*pictures, {}, torch::arange(10, torch::kLong));
    EXPECT_EQ(pictures->features.max().item<float>(), 1.0f);
    const auto text = load_dataset(named("constitution"));
    ASSERT_TRUE(text.ok()) << describe(text.error());
    EXPECT_TRUE(text->are_tokens());
    EXPECT_EQ(text->target, SampleTarget::NextToken);
    EXPECT_TRUE(text->features.flatten().slice(0, 1).equal(text->labels.flatten().slice(0, 0, -1))) << "each label is the character that comes next";
}

TEST(Datasets, RandpermIsPythons) {
    for (const auto& [seed, expected] : reference()["randperm_1437"].items()) {
        EXPECT_EQ(digest(seeded_permutation(1437, std::stoull(seed))), expected) << seed;
    }
}

class DataFile : public ::testing::Test {
  protected:
    Result<Dataset> load(const std::string& text) {
        m_plan.file = m_folder.file("data.csv", text);
        return load_dataset(m_plan);
    }
    DatasetPlan m_plan;
    mantissa::testing::TemporaryFolder m_folder;
};

TEST_F(DataFile, BecomesTensorsThatOutliveTheReading) {
    const auto dataset = load("a,b,kind\n1,2,x\n3,4,y\n5,6,x\n");
    ASSERT_TRUE(dataset.ok()) << describe(dataset.error());
    EXPECT_EQ(dataset->name, "data.csv");
    EXPECT_EQ(dataset->features.scalar_type(), at::kFloat);
    EXPECT_EQ(dataset->features.sizes(), (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(dataset->features.sum().item<float>(), 21);
    EXPECT_EQ(values(dataset->labels), (std::vector<std::int64_t>{0, 1, 0}));
    EXPECT_EQ(dataset->classes, 2);
    EXPECT_EQ(dataset->outputs(), 2);
    EXPECT_EQ(dataset->sample_shape, std::vector<std::int64_t>{2});
}

TEST_F(DataFile, ValuesAreFloatsAndHaveOneOutput) {
    const auto dataset = load("a,price\n1,0.5\n2,-1\n3,2.25\n");
    ASSERT_TRUE(dataset.ok()) << describe(dataset.error());
    EXPECT_EQ(dataset->labels.scalar_type(), at::kFloat);
    EXPECT_EQ(dataset->labels[2].item<float>(), 2.25f);
    EXPECT_EQ(dataset->outputs(), 1);
    const auto split = split_dataset(*dataset, 0.3, 0);
    ASSERT_TRUE(split.ok()) << describe(split.error());
    EXPECT_EQ(split->validation.size(0), 1);
}

TEST_F(DataFile, TextIsWholeNumbersAndItsNextOnes) {
    m_plan.context = 2;
    const auto dataset = load("abcab");
    ASSERT_TRUE(dataset.ok()) << describe(dataset.error());
    EXPECT_TRUE(dataset->are_tokens());
    EXPECT_TRUE(dataset->features.equal(torch::tensor({{0, 1}, {2, 0}}, torch::kLong)));
    EXPECT_TRUE(dataset->labels.equal(torch::tensor({{1, 2}, {0, 1}}, torch::kLong)));
}

TEST_F(DataFile, IsPreparedByFiguresOfItsTrainingSamples) {
    m_plan.missing = MissingRule::Mean;
    m_plan.normalise = Normalise::Standardise;
    auto dataset = load("a,kind\n1,x\n3,y\n,x\n9,y\n");
    ASSERT_TRUE(dataset.ok()) << describe(dataset.error());
    prepare_dataset(*dataset, m_plan, torch::tensor({0, 1}, torch::kLong));
    EXPECT_TRUE(dataset->features.flatten().equal(torch::tensor({-1.f, 1.f, 0.f, 7.f})));
}

TEST(Datasets, OfTheCatalogueAreNormalisedTooAndElseUntouched) {
    auto dataset = load_dataset(named("breast-cancer"));
    ASSERT_TRUE(dataset.ok());
    const torch::Tensor before = dataset->features.clone(), all = torch::arange(dataset->samples(), torch::kLong);
    prepare_dataset(*dataset, {}, all);
    EXPECT_TRUE(dataset->features.equal(before));
    DatasetPlan plan;
    plan.normalise = Normalise::Standardise;
    prepare_dataset(*dataset, plan, all);
    const torch::Tensor expected = (before.to(torch::kDouble) - before.to(torch::kDouble).mean(0)) / before.to(torch::kDouble).std(0, false);
    EXPECT_LT((dataset->features - expected).abs().max().item<double>(), 1e-6);
}

TEST(Datasets, MissingFilesAndNamesAreRefused) {
    const auto missing = load_dataset(named("digits", "/nowhere/digits.csv"));
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("/nowhere/digits.csv"), std::string::npos);
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
