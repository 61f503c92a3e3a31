// Event files byte for byte. The CRC vectors are those of RFC 3720, B.4; the records were written by TensorBoard 2.21 in Python from
// the same messages (RecordWriter, Event.SerializeToString).
#include "track/event_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using testing::TemporaryFolder;

std::string hex(const std::string& bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4];
        text += digits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

constexpr double at = 1700000000.25;
std::string record(std::int64_t step, const std::string& summary) { return hex(tf_record(event::with_summary(at, step, summary))); }

TEST(EventFile, ChecksumsAreThoseOfTheStandard) {
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
    std::string rising, falling;
    for (int i = 0; i < 32; ++i) {
        rising += static_cast<char>(i);
        falling += static_cast<char>(31 - i);
    }
    EXPECT_EQ(crc32c(rising), 0x46DD794EU);
    EXPECT_EQ(crc32c(falling), 0x113FDB5CU);
    EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
    EXPECT_EQ(crc32c(""), 0U);
    EXPECT_EQ(masked_crc32c(""), 0xA282EAD8U);
}

TEST(EventFile, RecordsHaveTensorBoardsBytes) {
    EXPECT_EQ(hex(tf_record(event::file_version(at))),
              "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9");
    const auto scalar = [](double value) { return record(300, event::scalar_summary("train/loss", value)); };
    EXPECT_EQ(scalar(0.5),
              "2100000000000000017becf60900001040fc54d94110ac022a130a110a0a747261696e2f6c6f7373150000003f8c4ba26f");
    EXPECT_EQ(scalar(std::numeric_limits<double>::quiet_NaN()),
              "2100000000000000017becf60900001040fc54d94110ac022a130a110a0a747261696e2f6c6f7373150000c07fc2d62032");
    EXPECT_EQ(scalar(std::numeric_limits<double>::infinity()),
              "2100000000000000017becf60900001040fc54d94110ac022a130a110a0a747261696e2f6c6f7373150000807f9d0017a6");
    EXPECT_EQ(scalar(0),
              "2100000000000000017becf60900001040fc54d94110ac022a130a110a0a747261696e2f6c6f737315000000002ca8b8c8");
    EXPECT_EQ(record(7, event::exact_scalar_summary("step/loss", 0.1)),
              "3500000000000000d6c55de60900001040fc54d94110072a280a260a09737465702f6c6f7373420c080232089a9999999999b93f4a0b"
              "0a090a077363616c6172733eaf4cbb");
    EXPECT_EQ(record(2, event::text_summary("note", "h\xc3\xa9llo")),
              "3e00000000000000d9d240e70900001040fc54d94110022a310a2f0a116e6f74652f746578745f73756d6d617279421008071204120208"
              "01420668c3a96c6c6f4a080a060a047465787418b9d4f9");
}

TEST(EventFile, HyperParametersHaveTensorBoardsBytes) {
    EXPECT_EQ(record(0, event::hparams_experiment({{"lr", 0.001}, {"model", "mlp"}, {"nesterov", true}})),
              "5500000000000000d7df0fc10900001040fc54d9412a4a0a480a145f68706172616d735f2f6578706572696d656e744a300a2e0a07687061"
              "72616d731223122122060a026c72200322090a056d6f64656c2001220c0a086e65737465726f762002899f923f");
    EXPECT_EQ(record(0, event::hparams_session_start({{"lr", 0.001}})),
              "4d000000000000003d63d4a60900001040fc54d9412a420a400a1c5f68706172616d735f2f73657373696f6e5f73746172745f696e666f4a"
              "200a1e0a0768706172616d7312131a110a0f0a026c72120911fca9f1d24d62503f151fad11");
    EXPECT_EQ(record(0, event::hparams_session_end()),
              "3c00000000000000c8b7a3520900001040fc54d9412a310a2f0a1a5f68706172616d735f2f73657373696f6e5f656e645f696e666f4a110a"
              "0f0a0768706172616d731204220208013759f0fc");
}

TEST(EventFile, AFileBeginsWithItsVersion) {
    const TemporaryFolder folder;
    auto file = EventFile::create(folder.path() / "logs", at);
    ASSERT_TRUE(file) << describe(file.error());
    EXPECT_TRUE(file->path().filename().string().starts_with("events.out.tfevents.1700000000."));
    file->add(at, 1, event::scalar_summary("a", 1));
    ASSERT_TRUE(file->flush());
    EXPECT_EQ(*read_file(file->path()), tf_record(event::file_version(at)) +
                                            tf_record(event::with_summary(at, 1, event::scalar_summary("a", 1))));
    auto second = EventFile::create(folder.path() / "logs", at);
    ASSERT_TRUE(second);
    EXPECT_NE(second->path(), file->path());
    const auto refused = EventFile::create(file->path(), at);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InputOutput);
}

}  // namespace
}  // namespace mantissa
