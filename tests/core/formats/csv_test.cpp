#include "formats/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class CsvTest : public ::testing::Test {
  protected:
    Result<CsvTable> read(const std::string& text, const CsvOptions& options = {}) {
        return read_csv(m_folder.file("table.csv", text), options);
    }
    /// What follows the file's name in the message.
    std::string error_of(const std::string& text, const CsvOptions& options = {}) {
        const auto table = read(text, options);
        if (table) return "no error";
        EXPECT_EQ(table.error().code, ErrorCode::InputOutput);
        const std::string path = (m_folder.path() / "table.csv").string() + " ";
        EXPECT_THAT(table.error().message, ::testing::StartsWith(path));
        return table.error().message.substr(path.size());
    }
    std::filesystem::path gzip(const std::string& name, const std::string& text) {
        const auto path = m_folder.path() / name;
        gzFile file = gzopen(path.c_str(), "wb");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        return path;
    }
    TemporaryFolder m_folder;
};

TEST_F(CsvTest, BadFieldsAreNamedWithLineAndColumn) {
    EXPECT_EQ(error_of("1,2\n3,x\n"), "line 2, column 2: 'x' is not a number");
    EXPECT_EQ(error_of("1,2\n3,\n"), "line 2, column 2: the value is missing");
    EXPECT_EQ(error_of("1,2\n,3\n"), "line 2, column 1: the value is missing");
    EXPECT_EQ(error_of("1,2\n3,4,5\n"), "line 2: 3 values instead of 2");
    EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "line 3: 1 values instead of 2");
    EXPECT_EQ(error_of("1,2\n\n3,4\n"), "line 2 is empty");
    EXPECT_EQ(error_of("1,\"2\n"), "line 1, column 2: a quote is opened and not closed in this line");
    EXPECT_EQ(error_of("\"1\"2,3\n"), "line 1, column 1: text after the closing quote");
    EXPECT_EQ(error_of("1,2\n3,0x10\n"), "line 2, column 2: '0x10' is not a number");
    EXPECT_EQ(error_of("1,2\n3,4 5\n"), "line 2, column 2: '4 5' is not a number");
    EXPECT_EQ(error_of("1,2\n+-3,4\n"), "line 2, column 1: '+-3' is not a number");
    EXPECT_EQ(error_of(std::string("1,2\n\0\x01,4\n", 10)),
              "line 2, column 1: '" + std::string(2, '?') + "' is not a number");
    EXPECT_EQ(error_of("1;2\n", {.header = CsvHeader::None}), "line 1, column 1: '1;2' is not a number");
}

TEST_F(CsvTest, NonFiniteValuesAreRefusedUnlessAllowed) {
    EXPECT_EQ(error_of("1,2\n3,nan\n"), "line 2, column 2: 'nan' is not a finite number");
    EXPECT_EQ(error_of("1,2\n-inf,4\n"), "line 2, column 1: '-inf' is not a finite number");
    const auto table = read("nan,inf\n-inf,1\n", {.header = CsvHeader::None, .allow_nonfinite = true});
    ASSERT_TRUE(table);
    EXPECT_TRUE(std::isnan(table->at(0, 0)));
    EXPECT_EQ(table->at(0, 1), INFINITY);
    EXPECT_EQ(table->at(1, 0), -INFINITY);
}

TEST_F(CsvTest, EmptyFilesAndFoldersAreErrors) {
    EXPECT_EQ(error_of(""), "holds no row of numbers");
    EXPECT_EQ(error_of("\n\n"), "holds no row of numbers");
    EXPECT_EQ(error_of("a,b\n"), "holds no row of numbers");
    EXPECT_THAT(read_csv(m_folder.path()).error().message, EndsWith("is not a file"));
    EXPECT_THAT(read_csv(m_folder.path() / "none.csv").error().message,
                EndsWith("can't be read: No such file or directory"));
}

TEST_F(CsvTest, LimitsHold) {
    EXPECT_EQ(error_of("1,2,3\n", {.max_columns = 2}), "line 1: more than the 2 columns allowed here");
    EXPECT_EQ(error_of("1,2\n3,4\n5,6\n", {.max_values = 4}), "line 3: more than the 4 values allowed here");
    EXPECT_EQ(error_of("1,2\n3,4\n", {.columns = 3}), "line 1: 2 values instead of 3");
    EXPECT_EQ(error_of("a,b\n3,4\n", {.columns = 3}), "line 1: 2 names instead of 3");
    EXPECT_EQ(error_of("1\n" + std::string(100, '1') + "\n", {.max_bytes = 50}),
              "holds more than the 50 bytes allowed here");
    EXPECT_THAT(error_of("1\n" + std::string(2'000'000, '1')),
                HasSubstr("line 2 is longer than the 1048576 bytes allowed"));
}

TEST_F(CsvTest, ACompressedBombStopsAtTheLimit) {
    std::string zeros;
    for (int line = 0; line < 200'000; ++line) zeros += "0,0,0,0\n";
    const auto table = read_csv(gzip("bomb.csv.gz", zeros), {.max_bytes = 1'000'000});
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message, EndsWith("holds more than the 1000000 bytes allowed here"));
}

TEST_F(CsvTest, DamagedCompressionIsAnError) {
    std::string text;
    for (int line = 0; line < 5'000; ++line)
        text += std::to_string(line * 7919 % 1000) + "," + std::to_string(line) + "\n";
    const auto whole = mantissa::testing::content_of(gzip("good.csv.gz", text));
    ASSERT_TRUE(read_csv(m_folder.path() / "good.csv.gz"));
    // Cut anywhere after the magic, also within the checksum at the end.
    for (const std::size_t size : {whole.size() - 1, whole.size() - 4, whole.size() - 8, whole.size() / 2,
                                   std::size_t{30}, std::size_t{12}}) {
        EXPECT_FALSE(read_csv(m_folder.file("cut.csv.gz", whole.substr(0, size)))) << size;
    }
    std::string flipped = whole;
    flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 1);  // checksum
    const auto table = read_csv(m_folder.file("flipped.csv.gz", flipped));
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message, HasSubstr("is damaged after line"));
}

TEST_F(CsvTest, ReadsWhatPeopleWrite) {
    const auto table = read("\xEF\xBB\xBFwidth, \"the \"\"height\"\"\"\r\n 1.5 ,-2e3\r\n\"+4\",.25\r\n\r\n");
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_THAT(table->header, ElementsAre("width", "\"the \"\"height\"\"\""));
    EXPECT_EQ(table->rows, 2);
    EXPECT_EQ(table->columns, 2);
    EXPECT_THAT(table->values, ElementsAre(1.5, -2000.0, 4.0, 0.25));
    EXPECT_EQ(table->first_line, 2);
    const auto quoted = read("\"a \"\"b\"\",c\",d\n1,2");
    ASSERT_TRUE(quoted);
    EXPECT_THAT(quoted->header, ElementsAre("a \"b\",c", "d"));
}

TEST_F(CsvTest, HeaderIsDetectedOnlyWhenItIsNone) {
    EXPECT_EQ(read("1,2\n3,4\n")->rows, 2);
    EXPECT_EQ(read("1,2\n3,4\n", {.header = CsvHeader::Names})->rows, 1);
    const auto free_form = read("3,30,malignant\n1,2\n3,4\n", {.header = CsvHeader::FreeForm});
    ASSERT_TRUE(free_form);
    EXPECT_THAT(free_form->header, ElementsAre("3", "30", "malignant"));
    EXPECT_THAT(free_form->values, ElementsAre(1, 2, 3, 4));
}

TEST_F(CsvTest, TheBundledDataSetsAreWhatTheyAre) {
    const auto digits =
        read_csv(MANTISSA_RESOURCES_DIR "/datasets/digits.csv.gz", {.header = CsvHeader::None});
    ASSERT_TRUE(digits) << digits.error().message;
    EXPECT_EQ(digits->rows, 1797);
    EXPECT_EQ(digits->columns, 65);
    double pixels = 0, labels = 0;
    for (std::int64_t row = 0; row < digits->rows; ++row) {
        for (std::int64_t column = 0; column < 64; ++column) pixels += digits->at(row, column);
        labels += digits->at(row, 64);
    }
    EXPECT_EQ(pixels, 561'718);  // sklearn.datasets.load_digits().data.sum()
    EXPECT_EQ(labels, 8'070);
    const auto cancer =
        read_csv(MANTISSA_RESOURCES_DIR "/datasets/breast_cancer.csv", {.header = CsvHeader::FreeForm});
    ASSERT_TRUE(cancer) << cancer.error().message;
    EXPECT_EQ(cancer->rows, 569);
    EXPECT_EQ(cancer->columns, 31);
    EXPECT_THAT(cancer->header, ElementsAre("569", "30", "malignant", "benign"));
    EXPECT_EQ(cancer->at(0, 0), 17.99);
}

}  // namespace
}  // namespace mantissa
