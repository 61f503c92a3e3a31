#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::content_of;
using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* reference = MANTISSA_TEST_DATA "/core/formats/reference.safetensors";

template <typename T>
std::vector<T> values_of(const SafeTensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

class SafeTensorsTest : public ::testing::Test {
  protected:
    std::filesystem::path write(const std::string& header, std::size_t data_bytes) {
        const std::uint64_t length = header.size();
        return m_folder.file("t.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) +
                                                  header + std::string(data_bytes, '\7'));
    }
    std::string error_of(const std::string& header, std::size_t data_bytes) {
        const auto path = write(header, data_bytes);
        const auto tensors = read_safetensors(path);
        if (tensors) return "no error";
        const std::string start = path.string() + " is damaged or hostile: ";
        const std::string& message = tensors.error().message;
        return message.starts_with(start) ? message.substr(start.size()) : message;
    }
    TemporaryFolder m_folder;
};

TEST_F(SafeTensorsTest, LiesAboutPlacesAreRefused) {
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", 8),
              "tensor 'a': data_offsets 0 to 9 lie outside the file's 8 bytes of data");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8),
              "tensor 'a': data_offsets 8 to 0 lie outside the file's 8 bytes of data");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})", 8),
              "tensor 'a': data_offsets 0 to 18446744073709551615 lie outside the file's 8 bytes of data");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
              "tensor 'a': its shape needs 12 bytes, its data_offsets give 8");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8]}})", 8),
              "tensor 'a': its shape needs too many bytes, its data_offsets give 8");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
              "tensor 'a': its shape needs too many bytes, its data_offsets give 0");
    EXPECT_EQ(
        error_of(
            R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
            6),
        "tensor 'b': its bytes overlap with another tensor's");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5),
              "tensor 'a': there is a hole of 1 bytes before it");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5),
              "the header describes 4 bytes of data, the file holds 5");
}

TEST_F(SafeTensorsTest, WrongHeadersAreRefused) {
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,4]}})", 4),
              "tensor 'a': shape holds -1, which is no size");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,4]}})", 4),
              "tensor 'a': shape holds 1.5, which is no size");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":4,"data_offsets":[0,4]}})", 4),
              "tensor 'a': shape must be a list of sizes");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[4]}})", 4),
              "tensor 'a': data_offsets must be two positions");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,"4"]}})", 4),
              "tensor 'a': data_offsets must be two positions");
    EXPECT_EQ(error_of(R"({"a":{"shape":[4],"data_offsets":[0,4]}})", 4), "tensor 'a': dtype must be a text");
    EXPECT_THAT(error_of(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4),
                HasSubstr("tensor 'a' has dtype 'F8_E4M3', which isn't read here"));
    EXPECT_EQ(error_of(R"({"a":7})", 0), "tensor 'a': its entry is not an object");
    EXPECT_EQ(error_of(R"([1])", 0), "its header is not a JSON object");
    EXPECT_EQ(
        error_of(
            R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
            0),
        "its header names 'a' twice");
    EXPECT_EQ(error_of(R"({"__metadata__":{"k":1}})", 0), "__metadata__ 'k' must be a text");
    EXPECT_EQ(error_of(R"({"a":{"dtype")", 0), "its header is no valid JSON at byte 22");
    EXPECT_THAT(error_of("{\"\xff\":1}", 0), HasSubstr("no valid JSON at byte"));
    EXPECT_EQ(error_of(std::string(3'000'000, '['), 0), "its header is nested too deeply");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[)" +
                           [] {
                               std::string ones;
                               for (int size = 0; size < 65; ++size) ones += size ? ",1" : "1";
                               return ones;
                           }() +
                           R"(],"data_offsets":[0,1]}})",
                       1),
              "tensor 'a': more than 64 dimensions");
}

TEST_F(SafeTensorsTest, LyingLengthsAndShortFilesAreRefused) {
    EXPECT_THAT(read_safetensors(m_folder.file("empty", "")).error().message,
                EndsWith("is no safetensors file: it has only 0 bytes"));
    EXPECT_THAT(read_safetensors(m_folder.file("seven", "1234567")).error().message,
                EndsWith("it has only 7 bytes"));
    EXPECT_THAT(read_safetensors(m_folder.file("huge", std::string(8, '\xff') + "{}")).error().message,
                EndsWith("bytes 0 to 7 give a header of 18446744073709551615 bytes, the file has 10"));
    EXPECT_THAT(read_safetensors(m_folder.file("one", std::string("\3\0\0\0\0\0\0\0{}", 10))).error().message,
                EndsWith("give a header of 3 bytes, the file has 10"));
    EXPECT_THAT(read_safetensors(m_folder.path() / "none").error().message,
                EndsWith("can't be read: No such file or directory"));
    EXPECT_FALSE(read_safetensors(m_folder.path()));
    EXPECT_FALSE(read_safetensors(reference, nullptr, {.header_bytes = 16}));
    EXPECT_FALSE(read_safetensors(reference, nullptr, {.file_bytes = 100}));
}

TEST_F(SafeTensorsTest, EveryCutAndEveryFlippedBitIsAnErrorOrAFile) {
    const std::string whole = content_of(reference);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(read_safetensors(m_folder.file("cut", whole.substr(0, size)))) << size;
    }
    int refused = 0;
    const std::size_t header_end = whole.find("}}") + 2;
    for (std::size_t byte = 0; byte < header_end; ++byte) {
        std::string changed = whole;
        changed[byte] = static_cast<char>(changed[byte] ^ 4);
        refused += read_safetensors(m_folder.file("flipped", changed)) ? 0 : 1;
    }
    EXPECT_GT(refused, static_cast<int>(header_end) / 2);  // the rest changes names or metadata
}

TEST_F(SafeTensorsTest, ReadsTheReferenceWritersFile) {
    std::map<std::string, std::string> metadata;
    const auto tensors = read_safetensors(reference, &metadata);
    ASSERT_TRUE(tensors) << tensors.error().message;
    EXPECT_EQ(tensors->size(), 9u);
    EXPECT_EQ(metadata, (std::map<std::string, std::string>{{"made", "by hand"}}));
    EXPECT_THAT(values_of<float>(tensors->at("a")), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(tensors->at("a").shape, ElementsAre(2, 3));
    EXPECT_EQ(tensors->at("a").elements(), 6);
    EXPECT_THAT(values_of<std::uint16_t>(tensors->at("b.half")), ElementsAre(0x3c00, 0x7bff, 0x7c00));
    EXPECT_THAT(values_of<std::uint16_t>(tensors->at("brain")), ElementsAre(0x3fc0, 0xc040));
    EXPECT_THAT(values_of<std::uint8_t>(tensors->at("byte")), ElementsAre(255, 0));
    EXPECT_THAT(values_of<std::int64_t>(tensors->at("ids")), ElementsAre(1ll << 40, -1));
    EXPECT_THAT(values_of<std::uint8_t>(tensors->at("mask")), ElementsAre(1, 0, 1));
    EXPECT_EQ(tensors->at("mask").type, TensorType::Bool);
    EXPECT_EQ(tensors->at("none").elements(), 0);
    EXPECT_THAT(values_of<double>(tensors->at("scalar")), ElementsAre(-2.5));
    EXPECT_TRUE(tensors->at("scalar").shape.empty());
    EXPECT_THAT(values_of<std::int32_t>(tensors->at("small")), ElementsAre(7));
}

TEST_F(SafeTensorsTest, WritesWhatTheReferenceWriterWrites) {
    std::map<std::string, std::string> metadata;
    const auto tensors = read_safetensors(reference, &metadata);
    ASSERT_TRUE(tensors);
    const auto path = m_folder.path() / "again.safetensors";
    ASSERT_TRUE(write_safetensors(path, *tensors, metadata));
    EXPECT_EQ(content_of(path), content_of(reference));
    ASSERT_TRUE(write_safetensors(path, {}));
    EXPECT_TRUE(read_safetensors(path)->empty());
}

TEST_F(SafeTensorsTest, ATensorWhoseBytesDontFitIsNotWritten) {
    const SafeTensors wrong{{"w", {TensorType::F32, {2, 2}, std::vector<std::byte>(15)}}};
    const auto written = write_safetensors(m_folder.path() / "wrong", wrong);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "tensor 'w' has 15 bytes, its shape needs 16");
    EXPECT_FALSE(std::filesystem::exists(m_folder.path() / "wrong"));
}

}  // namespace
}  // namespace mantissa
