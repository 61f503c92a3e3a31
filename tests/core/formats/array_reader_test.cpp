#include "formats/array_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text += static_cast<char>(value);
    return text;
}

/// An array as numpy.save writes it, version 1.
std::string npy(const std::string& header, const std::string& content, int version = 1) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    const std::size_t size = header.size();
    text += static_cast<char>(size & 255);
    text += static_cast<char>(size >> 8);
    if (version > 1) text += std::string(2, '\0');
    return text + header + content;
}
std::string npy_of(const std::string& descr, const std::string& shape, const std::string& content) {
    return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }          \n", content);
}

class ArrayReaderTest : public ::testing::Test {
  protected:
    std::vector<double> values(Result<ArrayReader> reader) {
        EXPECT_TRUE(reader.ok()) << describe(reader.error());
        if (!reader) return {};
        std::vector<double> all(static_cast<std::size_t>(reader->elements()));
        const auto read = reader->read(reader->elements(), all.data());
        EXPECT_TRUE(read.ok()) << describe(read.error());
        const auto end = reader->expect_end();
        EXPECT_TRUE(end.ok()) << describe(end.error());
        return all;
    }
    /// What follows the file's name in the message, of opening or of reading to the end.
    std::string error_of(Result<ArrayReader> reader) {
        if (reader) {
            std::vector<double> all(static_cast<std::size_t>(std::min<std::int64_t>(reader->elements(), 1000)));
            auto done = reader->read(static_cast<std::int64_t>(all.size()), all.data());
            if (done) done = reader->expect_end();
            if (done) return "no error";
            EXPECT_EQ(done.error().code, ErrorCode::InputOutput);
            return after_name(done.error().message);
        }
        EXPECT_EQ(reader.error().code, ErrorCode::InputOutput);
        return after_name(reader.error().message);
    }
    std::string after_name(const std::string& message) {
        const std::string folder = m_folder.path().string() + "/";
        EXPECT_THAT(message, ::testing::StartsWith(folder));
        const std::string rest = message.substr(std::min(folder.size(), message.size()));
        return rest.substr(rest.find(' ') + 1);
    }
    std::filesystem::path file(const std::string& content) { return m_folder.file("a.bin", content); }
    std::filesystem::path archive(const std::vector<std::pair<std::string, std::string>>& members) {
        const auto path = m_folder.path() / "a.npz";
        std::filesystem::remove(path);
        zip_t* made = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
        for (const auto& [name, content] : members) zip_file_add(made, name.c_str(), zip_source_buffer(made, content.data(), content.size(), 0), 0);
        EXPECT_EQ(zip_close(made), 0);
        return path;
    }
    TemporaryFolder m_folder;
};

TEST_F(ArrayReaderTest, IdxIsBigEndianAndOfSixTypes) {
    EXPECT_THAT(values(open_idx(file(bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1, 2, 128, 254, 255})))), ElementsAre(0, 1, 2, 128, 254, 255));
    EXPECT_THAT(values(open_idx(file(bytes({0, 0, 9, 1, 0, 0, 0, 2, 255, 127})))), ElementsAre(-1, 127));
    EXPECT_THAT(values(open_idx(file(bytes({0, 0, 0x0B, 1, 0, 0, 0, 2, 0xFF, 0xFE, 1, 0})))), ElementsAre(-2, 256));
    EXPECT_THAT(values(open_idx(file(bytes({0, 0, 0x0C, 1, 0, 0, 0, 1, 0, 1, 0, 1})))), ElementsAre(65537));
    EXPECT_THAT(values(open_idx(file(bytes({0, 0, 0x0D, 1, 0, 0, 0, 1, 0x3F, 0xC0, 0, 0})))), ElementsAre(1.5));
    EXPECT_THAT(values(open_idx(file(bytes({0, 0, 0x0E, 1, 0, 0, 0, 1, 0xC0, 0x04, 0, 0, 0, 0, 0, 0})))), ElementsAre(-2.5));
    const auto shape = open_idx(file(bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28})));
    ASSERT_TRUE(shape.ok());
    EXPECT_THAT(shape->shape(), ElementsAre(1, 28, 28));
    EXPECT_EQ(shape->type(), ElementType::U8);
}

TEST_F(ArrayReaderTest, GzipIsToldByContent) {
    const auto path = m_folder.path() / "labels";
    gzFile packed = gzopen(path.c_str(), "wb");
    const std::string content = bytes({0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9});
    gzwrite(packed, content.data(), static_cast<unsigned>(content.size()));
    gzclose(packed);
    EXPECT_THAT(values(open_idx(path)), ElementsAre(7, 8, 9));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
    EXPECT_THAT(error_of(open_idx(path)), HasSubstr("the compressed data ends too early"));
}

TEST_F(ArrayReaderTest, BadIdxIsNamedWithItsByte) {
    EXPECT_EQ(error_of(open_idx(file(bytes({0, 0, 8})))), "ends at byte 3, in the middle of the IDX header");
    EXPECT_EQ(error_of(open_idx(file(bytes({1, 0, 8, 1, 0, 0, 0, 1, 1})))), "is no IDX file: its first two bytes aren't 0");
    EXPECT_EQ(error_of(open_idx(file(bytes({0, 0, 10, 1, 0, 0, 0, 1, 1})))), "byte 2: 10 is no type of IDX");
    EXPECT_EQ(error_of(open_idx(file(bytes({0, 0, 8, 9, 0, 0, 0, 1, 1})))), "byte 3: 9 dimensions, 1 to 8 can be read");
    EXPECT_EQ(error_of(open_idx(file(bytes({0, 0, 8, 2, 0, 0, 0, 1})))), "ends at byte 8, in the middle of the IDX header");
    EXPECT_EQ(error_of(open_idx(file(bytes({0, 0, 8, 1, 0, 0, 0, 3, 1, 2})))), "ends at byte 10, in the middle of its elements");
    EXPECT_EQ(error_of(open_idx(file(bytes({0, 0, 8, 1, 0, 0, 0, 1, 1, 2})))), "goes on after its last element, at byte 9");
    const int most = 0xFF;
    EXPECT_THAT(error_of(open_idx(file(bytes({0, 0, 8, 3, most, most, most, most, most, most, most, most, most, most, most, most})))), HasSubstr("more than any file can"));
    EXPECT_THAT(open_idx(m_folder.path()).error().message, HasSubstr("is not a file"));
}

TEST_F(ArrayReaderTest, NpyOfEachTypeAndByteOrder) {
    const std::vector<std::pair<std::string, std::vector<double>>> cases{{"<f8", {1.5}}, {">f8", {1.5}}, {"<f4", {1.5}}, {">f4", {1.5}}, {"<f2", {1.5}}, {"|u1", {200}}, {"|b1", {1}}};
    const std::vector<std::string> contents{bytes({0, 0, 0, 0, 0, 0, 0xF8, 0x3F}), bytes({0x3F, 0xF8, 0, 0, 0, 0, 0, 0}), bytes({0, 0, 0xC0, 0x3F}), bytes({0x3F, 0xC0, 0, 0}), bytes({0, 0x3E}),
                                            bytes({200}),                          bytes({1})};
    for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(values(open_npy(file(npy_of(cases[i].first, "(1,)", contents[i])))), cases[i].second) << cases[i].first;
    EXPECT_THAT(values(open_npy(file(npy_of("<i4", "(2, 1)", bytes({255, 255, 255, 255, 1, 0, 0, 0}))))), ElementsAre(-1, 1));
    EXPECT_THAT(values(open_npy(file(npy_of("<u2", "(1,)", bytes({255, 255}))))), ElementsAre(65535));
    EXPECT_THAT(values(open_npy(file(npy_of("<i8", "()", bytes({254, 255, 255, 255, 255, 255, 255, 255}))))), ElementsAre(-2));
    EXPECT_THAT(values(open_npy(file(npy("{'shape': (1,), 'fortran_order': False, 'descr': '|i1'}\n", bytes({255}), 3)))), ElementsAre(-1));
}

// The special values of float16, to the bit.
TEST_F(ArrayReaderTest, HalvesKeepTheirValues) {
    const auto halves = values(open_npy(file(npy_of("<f2", "(6,)", bytes({1, 0, 0xFF, 0x7B, 0, 0x7C, 0, 0xFC, 0, 0x80, 1, 0x7C})))));
    ASSERT_EQ(halves.size(), 6u);
    EXPECT_EQ(halves[0], 0x1p-24);
    EXPECT_EQ(halves[1], 65504);
    EXPECT_EQ(halves[2], HUGE_VAL);
    EXPECT_EQ(halves[3], -HUGE_VAL);
    EXPECT_TRUE(halves[4] == 0 && std::signbit(halves[4]));
    EXPECT_TRUE(std::isnan(halves[5]));
}

TEST_F(ArrayReaderTest, BadNpyIsNamed) {
    const std::string one = bytes({1});
    EXPECT_EQ(error_of(open_npy(file("\x93NUMPX\1\0"))), "ends at byte 7, in the middle of the npy header");
    EXPECT_EQ(error_of(open_npy(file("\x93NUMPX\1\1aaaa"))), "is no npy array: it doesn't begin with its magic bytes");
    EXPECT_EQ(error_of(open_npy(file(npy("{}", one, 4)))), "byte 6: version 4 of npy, 1 to 3 can be read");
    EXPECT_EQ(error_of(open_npy(file(npy("{'descr': '|u1', 'shape': (1,)}", one)))), "byte 41: the npy header is none that numpy writes");
    EXPECT_EQ(error_of(open_npy(file(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': 1}", one)))), "byte 70: the npy header is none that numpy writes");
    EXPECT_EQ(error_of(open_npy(file(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}", one)))), "byte 61: the npy header is none that numpy writes");
    EXPECT_EQ(error_of(open_npy(file(npy_of("|O", "(1,)", one)))), "holds elements of type '|O', which are no numbers that can be read here");
    EXPECT_EQ(error_of(open_npy(file(npy_of("<c8", "(1,)", one)))), "holds elements of type '<c8', which are no numbers that can be read here");
    EXPECT_EQ(error_of(open_npy(file(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}", one)))), "is stored column by column (fortran_order)");
    EXPECT_THAT(error_of(open_npy(file(npy_of("<f8", "(1000000, 1000000, 1000000)", one)))), HasSubstr("more than any file can"));
    EXPECT_EQ(error_of(open_npy(file(npy_of("|u1", "(3,)", one)))), "ends at byte " + std::to_string(npy_of("|u1", "(3,)", one).size()) + ", in the middle of its elements");
    EXPECT_THAT(error_of(open_npy(file(npy_of("<u8", "(1,)", bytes({1, 0, 0, 0, 0, 0, 0x20, 0}))))), HasSubstr("element 0 is a whole number of 2^53 or more"));
    EXPECT_EQ(error_of(open_npy(file(npy_of("<u8", "(1,)", bytes({255, 255, 255, 255, 255, 255, 0x1F, 0}))))), "no error");
    EXPECT_EQ(error_of(open_npy(file(std::string("\x93NUMPY\2\0\xFF\xFF\xFF\x7F", 12)))), "byte 8: a header of 2147483647 bytes, 65536 are the most");
}

TEST_F(ArrayReaderTest, NpzHoldsNamedArrays) {
    const auto path = archive({{"x.npy", npy_of("|u1", "(2, 2)", bytes({1, 2, 3, 4}))}, {"notes.txt", "no array"}, {"y.npy", npy_of("|u1", "(2,)", bytes({0, 1}))}});
    const auto names = npz_names(path);
    ASSERT_TRUE(names.ok());
    EXPECT_THAT(*names, ElementsAre("x", "y"));
    EXPECT_THAT(values(open_npz(path, "x")), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(open_npz(path, "z").error().message, HasSubstr("a.npz, z.npy, can't be read: No such file"));
    const auto cut = archive({{"x.npy", npy_of("|u1", "(3,)", bytes({1}))}});
    EXPECT_THAT(error_of(open_npz(cut, "x")), HasSubstr("in the middle of its elements"));
    EXPECT_THAT(npz_names(file("PK\x03\x04 and nothing more")).error().message, HasSubstr("can't be read as an npz archive"));
}

TEST_F(ArrayReaderTest, TensorsOfSafetensors) {
    const std::string header = R"({"y":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"x":{"dtype":"BF16","shape":[1,2],"data_offsets":[8,12]}})";
    std::string content = bytes({static_cast<int>(header.size()), 0, 0, 0, 0, 0, 0, 0}) + header + bytes({5, 0, 0, 0, 0, 0, 0, 0, 0xC0, 0x3F, 0x80, 0xBF});
    const auto path = file(content);
    const auto names = tensor_names(path);
    ASSERT_TRUE(names.ok()) << describe(names.error());
    EXPECT_THAT(*names, ElementsAre("y", "x"));
    EXPECT_THAT(values(open_tensor(path, "x")), ElementsAre(1.5, -1));
    EXPECT_THAT(values(open_tensor(path, "y")), ElementsAre(5));
    EXPECT_THAT(open_tensor(path, "z").error().message, HasSubstr("holds no tensor 'z'"));
    content[0] = '\x7F';
    content[3] = '\x7F';
    EXPECT_THAT(error_of(open_tensor(file(content), "x")), HasSubstr("byte 0: a header of"));
}

// Larger than a block of reading, so that blocks meet.
TEST_F(ArrayReaderTest, BlocksFollowEachOther) {
    std::string content;
    constexpr int count = 300'000;
    for (int i = 0; i < count; ++i) content += static_cast<char>(i % 251);
    auto reader = open_npy(file(npy_of("|u1", "(300000,)", content)));
    ASSERT_TRUE(reader.ok());
    std::vector<double> part(70'001);
    for (int done = 0; done < count;) {
        const int now = std::min<int>(count - done, static_cast<int>(part.size()));
        ASSERT_TRUE(reader->read(now, part.data()).ok());
        for (int i = 0; i < now; i += 997) ASSERT_EQ(part[static_cast<std::size_t>(i)], (done + i) % 251);
        done += now;
    }
    EXPECT_TRUE(reader->expect_end().ok());
}

}  // namespace
}  // namespace mantissa
