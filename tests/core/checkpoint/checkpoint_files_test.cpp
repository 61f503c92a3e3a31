// Bundles and tensors through files: the same bits come back, Python's files open, and what is damaged is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "base/sha256.h"
#include "formats/safetensors.h"
#include "tests/core/checkpoint/checkpoint_maker.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using mantissa::testing::content_of;
using mantissa::testing::small_checkpoint;
using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* here = MANTISSA_TEST_DATA "/core/checkpoint/";

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(CheckpointFilesTest, FactsComeBackWithTheSameBitsAndTypes) {
    const TemporaryFolder folder;
    const double odd_nan = std::bit_cast<double>(0xfff8000000000123ull), infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> doubles{0.1, -0.0, 5e-324, 1.7976931348623157e308, infinity, -infinity, std::nan(""), odd_nan, 2.0};
    Checkpoint checkpoint = small_checkpoint();
    auto& facts = checkpoint.accelerator.facts;
    facts["doubles"] = doubles;
    for (std::size_t i = 0; i < doubles.size(); ++i) facts["double" + std::to_string(i)] = doubles[i];
    facts["none"] = std::vector<double>{};
    facts["no whole"] = std::vector<std::int64_t>{};
    facts["whole"] = std::vector<std::int64_t>{INT64_MIN, INT64_MAX, 0};
    facts["yes"] = true;
    facts["text"] = std::string("+Inf \"quoted\" \n 中");
    const auto path = write_checkpoint(folder.path() / "checkpoint_3", checkpoint);
    ASSERT_TRUE(path) << path.error().message;
    const auto read = read_checkpoint(*path);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->accelerator.facts.size(), facts.size());
    const auto& back = read->accelerator.fact<std::vector<double>>("doubles");
    ASSERT_EQ(back.size(), doubles.size());
    for (std::size_t i = 0; i < doubles.size(); ++i) {
        EXPECT_EQ(bits(back[i]), bits(doubles[i])) << i;
        EXPECT_EQ(bits(read->accelerator.fact<double>("double" + std::to_string(i))), bits(doubles[i])) << i;
    }
    EXPECT_TRUE(read->accelerator.fact<std::vector<double>>("none").empty());
    EXPECT_TRUE(read->accelerator.fact<std::vector<std::int64_t>>("no whole").empty());
    EXPECT_THAT(read->accelerator.fact<std::vector<std::int64_t>>("whole"), ElementsAre(INT64_MIN, INT64_MAX, 0));
    EXPECT_EQ(read->accelerator.fact<std::string>("text"), "+Inf \"quoted\" \n 中");
    EXPECT_EQ(read->loss_scale, (SavedScale{4096, 5}));
    EXPECT_EQ(read->objects.at(1).tensor("mean")->item<float>(), 2.5F);
    EXPECT_FALSE(fs::exists(*path / "custom_checkpoint_0.safetensors"));
    EXPECT_TRUE(fs::exists(*path / "model_1.safetensors"));
}

TEST(CheckpointFilesTest, TensorsOfEveryTypeAndShapeComeBackEqual) {
    const TemporaryFolder folder;
    const torch::Tensor base = torch::arange(24, torch::kFloat).reshape({4, 6});
    NamedTensors tensors{{"bytes", torch::tensor({0, 255}, torch::kByte)}, {"ids", torch::tensor({-1, 7}, torch::kLong)},
                         {"mask", torch::tensor({true, false})}, {"half", torch::tensor({65504.0, 6e-8}).to(torch::kHalf)},
                         {"brain", torch::tensor({3.39e38}).to(torch::kBFloat16)}, {"short", torch::tensor({-300}, torch::kShort)},
                         {"char", torch::tensor({-3}, torch::kChar)}, {"double", torch::tensor({0.1}, torch::kDouble)},
                         {"transposed", base.t()}, {"column", base.select(1, 2)}, {"scalar", torch::tensor(2.5)},
                         {"empty", torch::empty({0, 3})}, {"grad", torch::randn({2}).requires_grad_()}, {"int", torch::tensor({5}, torch::kInt)}};
    const auto written = write_tensor_file(folder.path() / "t.safetensors", tensors);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->sha256, sha256_hex(content_of(folder.path() / "t.safetensors")));
    EXPECT_EQ(written->bytes, fs::file_size(folder.path() / "t.safetensors"));
    const auto read = read_tensor_file(folder.path() / "t.safetensors");
    ASSERT_TRUE(read);
    const std::map<std::string, torch::Tensor> back(read->begin(), read->end());
    ASSERT_EQ(back.size(), tensors.size());
    for (const auto& [name, tensor] : tensors) {
        EXPECT_EQ(back.at(name).scalar_type(), tensor.scalar_type()) << name;
        EXPECT_TRUE(torch::equal(back.at(name), tensor)) << name;
    }
    const auto complex = write_tensor_file(folder.path() / "c.safetensors", {{"z", torch::zeros({1}, torch::kComplexFloat)}});
    ASSERT_FALSE(complex);
    EXPECT_THAT(complex.error().message, HasSubstr("the tensor z (ComplexFloat [1]) can't be saved"));
    EXPECT_FALSE(fs::exists(folder.path() / "c.safetensors"));
}

TEST(CheckpointFilesTest, PythonsFilesOpenHere) {
    const auto tied = read_tensor_file(std::string(here) + "python_model.safetensors");
    ASSERT_TRUE(tied) << tied.error().message;
    const std::map<std::string, torch::Tensor> weights(tied->begin(), tied->end());
    const torch::Tensor expected = torch::arange(6, torch::kFloat).reshape({3, 2}) / 4;
    EXPECT_TRUE(torch::equal(weights.at("embed.weight"), expected));
    EXPECT_TRUE(torch::equal(weights.at("head.weight"), expected));
    const auto saved = read_tensor_file(std::string(here) + "accelerate_model.safetensors");
    ASSERT_TRUE(saved) << saved.error().message;
    const std::map<std::string, torch::Tensor> net(saved->begin(), saved->end());
    EXPECT_EQ(net.size(), 7u);
    EXPECT_TRUE(torch::equal(net.at("0.weight"), torch::tensor({{0.5, -1.5}, {2.0, 0.25}})));
    EXPECT_TRUE(torch::equal(net.at("1.running_mean"), torch::tensor({0.125, -0.375})));
    EXPECT_EQ(net.at("1.num_batches_tracked").item<std::int64_t>(), 7);
}

TEST(CheckpointFilesTest, OurFileIsByteForByteWhatPythonWrites) {
    const TemporaryFolder folder;
    const auto saved = read_tensor_file(std::string(here) + "accelerate_model.safetensors");
    ASSERT_TRUE(saved);
    ASSERT_TRUE(write_tensor_file(folder.path() / "again.safetensors", *saved));
    EXPECT_EQ(content_of(folder.path() / "again.safetensors"), content_of(std::string(here) + "accelerate_model.safetensors"));
}

class DamagedCheckpoint : public ::testing::Test {
  protected:
    std::string read_error() {
        const auto read = read_checkpoint(m_path);
        return read ? "no error" : read.error().message;
    }
    void rewrite(const std::string& from, const std::string& to) {
        std::string text = m_text;
        text.replace(text.find(from), from.size(), to);
        std::ofstream(m_path / "state.json", std::ios::binary) << text;
    }
    TemporaryFolder m_folder;
    fs::path m_path = write_checkpoint(m_folder.path() / "checkpoint_3", small_checkpoint()).value();
    std::string m_text = content_of(m_path / "state.json");
};

TEST_F(DamagedCheckpoint, AChangedStateFileIsNamed) {
    rewrite("\"step\": 3", "\"step\": 4");
    EXPECT_THAT(read_error(), HasSubstr("state.json is damaged: its SHA-256 is another than when it was written"));
    rewrite("\"version\": 1", "\"version\": 2");
    EXPECT_THAT(read_error(), HasSubstr("it has version 2, this program reads 1"));
    rewrite("mantissa-checkpoint", "somebody's");
    EXPECT_THAT(read_error(), HasSubstr("it doesn't say \"mantissa-checkpoint\" as its format"));
    std::ofstream(m_path / "state.json") << m_text.substr(0, 100);
    EXPECT_THAT(read_error(), HasSubstr("it is no valid JSON at byte"));
    std::ofstream(m_path / "state.json") << std::string(100'000, '[');
    EXPECT_THAT(read_error(), HasSubstr("it is nested too deeply"));
    fs::remove(m_path / "state.json");
    EXPECT_THAT(read_error(), HasSubstr("is no checkpoint of Mantissa: it has no state.json"));
}

TEST_F(DamagedCheckpoint, EveryCutOfTheStateFileIsRefused) {
    for (std::size_t size = 0; size + 1 < m_text.size(); ++size) {  // the last byte is the line's end
        std::ofstream(m_path / "state.json", std::ios::binary) << m_text.substr(0, size);
        ASSERT_NE(read_error(), "no error") << size;
    }
}

TEST_F(DamagedCheckpoint, ForeignMissingAndChangedFilesAreNamed) {
    const std::string whole = content_of(m_path / "optimizer.safetensors");
    std::string changed = whole;
    changed.back() ^= 1;
    std::ofstream(m_path / "optimizer.safetensors", std::ios::binary) << changed;
    EXPECT_THAT(read_error(), HasSubstr("optimizer.safetensors is damaged: its SHA-256 isn't the one in state.json"));
    std::ofstream(m_path / "optimizer.safetensors", std::ios::binary) << whole << "x";
    EXPECT_THAT(read_error(), HasSubstr("bytes instead of"));
    fs::remove(m_path / "optimizer.safetensors");
    EXPECT_THAT(read_error(), HasSubstr("optimizer.safetensors is damaged: it is missing"));
    std::ofstream(m_path / "optimizer.safetensors", std::ios::binary) << whole;
    EXPECT_EQ(read_error(), "no error");
}

TEST(CheckpointNamesTest, NumbersAreOrderedAndOnlyFinishedOnesCount) {
    const TemporaryFolder folder;
    for (const int number : {10, 2, 0}) ASSERT_TRUE(write_checkpoint(checkpoint_path(folder.path(), number), small_checkpoint()));
    for (const char* name : {"checkpoint_99", "checkpoint_", "checkpoint_x", "checkpoint_-1"}) fs::create_directory(folder.path() / name);
    fs::copy(folder.path() / "checkpoint_0", folder.path() / "checkpoint_007");
    fs::copy(folder.path() / "checkpoint_0", folder.path() / ".checkpoint_50");
    EXPECT_THAT(checkpoint_numbers(folder.path()), ElementsAre(0, 2, 10));
    ASSERT_TRUE(remove_old_checkpoints(folder.path(), 0));
    EXPECT_THAT(checkpoint_numbers(folder.path()), ElementsAre(2, 10));
    EXPECT_TRUE(checkpoint_numbers(folder.path() / "none").empty());
}

TEST(CheckpointRanksTest, EachRankReadsItsOwnRandomStatesAndWindow) {
    const TemporaryFolder folder;
    Checkpoint checkpoint = small_checkpoint(), other = small_checkpoint();
    other.random_states = {{"cpu", torch::full({7}, 9, torch::kByte)}};
    other.accelerator.tensors = {{"grad.0.0.0", torch::full({4}, 5.0)}};
    auto writer = CheckpointWriter::begin(folder.path() / "checkpoint_3");
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add_shared(checkpoint));
    ASSERT_TRUE(write_rank_files(writer->folder(), 0, checkpoint));
    ASSERT_TRUE(write_rank_files(writer->folder(), 1, other));
    ASSERT_TRUE(writer->finish(checkpoint));
    const auto read = read_checkpoint(folder.path() / "checkpoint_3", 1);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->random_states.at(0).second[0].item<int>(), 9);
    EXPECT_EQ(read->accelerator.tensor("grad.0.0.0")->sum().item<float>(), 20);
    EXPECT_TRUE(read_checkpoint(folder.path() / "checkpoint_3", 2)->random_states.empty());
}

}  // namespace
}  // namespace mantissa
