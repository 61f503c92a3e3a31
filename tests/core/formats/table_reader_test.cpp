#include "formats/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/utf8.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TableReaderTest : public ::testing::Test {
  protected:
    Result<TableReader> open(const std::string& text, const TableOptions& options = {}) { return TableReader::open(m_folder.file("t.csv", text), options); }
    std::vector<std::vector<std::string>> rows(const std::string& text, const TableOptions& options = {}) {
        auto table = open(text, options);
        EXPECT_TRUE(table.ok()) << describe(table.error());
        std::vector<std::vector<std::string>> all;
        std::vector<std::string> fields;
        while (table && *table->next(fields)) all.push_back(fields);
        return all;
    }
    std::string error_of(const std::string& text, const TableOptions& options = {}) {
        auto table = open(text, options);
        std::string message;
        if (!table) {
            message = table.error().message;
        } else {
            std::vector<std::string> fields;
            for (;;) {
                const auto more = table->next(fields);
                if (!more) {
                    message = more.error().message;
                    break;
                }
                if (!*more) return "no error";
            }
        }
        const std::string path = (m_folder.path() / "t.csv").string() + " ";
        EXPECT_THAT(message, ::testing::StartsWith(path));
        return message.substr(path.size());
    }
    TemporaryFolder m_folder;
};

TEST_F(TableReaderTest, TheSeparatorIsTheOneThatDividesEvenly) {
    EXPECT_EQ(open("a,b\n1,2\n")->separator(), ',');
    EXPECT_EQ(open("a;b\n1,5;2,5\n3,5;4,5\n")->separator(), ';') << "commas don't divide the names";
    EXPECT_EQ(open("1,2;3,4\n5,6;7,8\n")->separator(), ',') << "both divide evenly: more columns win";
    EXPECT_EQ(open("a\tb\n1\t2\n")->separator(), '\t');
    EXPECT_EQ(open("a|b\n1|2\n")->separator(), '|');
    EXPECT_THAT(rows("1 , 2\n\n 3,4\n\n"), ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "4")));
}

TEST_F(TableReaderTest, AHeaderStandsOverNumbersOrIsAllWords) {
    EXPECT_THAT(open("长度,宽度,类别\n1,2,a\n3,4,b\n")->names(), ElementsAre("长度", "宽度", "类别"));
    EXPECT_THAT(open("\xEF\xBB\xBFlength,width\n1,2\n")->names(), ElementsAre("length", "width")) << "a byte order mark is no part of a name";
    EXPECT_FALSE(open("5.1,3.5,setosa\n4.9,3.0,setosa\n")->has_header()) << "a word over words is a label";
    EXPECT_TRUE(open("5,x\n1,2\n")->has_header()) << "a word over numbers is a name";
    EXPECT_FALSE(open("1,2\n3,4\n")->has_header());
    EXPECT_THAT(open("1,2\n3,4\n")->names(), ElementsAre("column 1", "column 2"));
    EXPECT_TRUE(open("2001,2002\n1,2\n", {.header = HeaderLine::Names})->has_header());
    EXPECT_FALSE(open("a,b\n1,2\n", {.header = HeaderLine::None})->has_header());
    EXPECT_THAT(open(",b\n0,1\n")->names(), ElementsAre("column 1", "b")) << "the column of pandas' index has no name";
}

TEST_F(TableReaderTest, QuotedFieldsHoldSeparatorsQuotesAndLineBreaks) {
    EXPECT_THAT(rows("a,b\n\"1,5\",\"say \"\"x\"\"\"\n\"two\nlines\",4\n"), ElementsAre(ElementsAre("1,5", "say \"x\""), ElementsAre("two\nlines", "4")));
    EXPECT_THAT(rows("a,b\r\n1,2\r\n"), ElementsAre(ElementsAre("1", "2")));
    auto table = open("a,b\n\"x\ny\",1\n2,z\n");
    std::vector<std::string> fields;
    ASSERT_TRUE(*table->next(fields) && *table->next(fields));
    EXPECT_EQ(table->line(), 4) << "lines are counted as an editor counts them";
}

TEST_F(TableReaderTest, BadTablesAreNamedWithLineAndColumn) {
    EXPECT_EQ(error_of(""), "is empty");
    EXPECT_EQ(error_of("\n\n"), "is empty");
    EXPECT_EQ(error_of("just one column\n"), "line 1: no comma, semicolon, tab or bar divides it into columns");
    EXPECT_EQ(error_of("a,b,c\n1,2,3\n1,2\n"), "line 3: 2 values instead of 3 (separated by commas)");
    std::string long_table = "a,b\n";
    for (int i = 0; i < 30; ++i) long_table += "1,2\n";
    EXPECT_EQ(error_of(long_table + "1,2,3\n"), "line 32: 3 values instead of 2");
    EXPECT_EQ(error_of(long_table + "1,\"2\n"), "line 32: a quote is opened and never closed");
    EXPECT_EQ(error_of(long_table + "1,\"2\"3\n"), "line 32, column 2 (b): text after the closing quote");
    EXPECT_EQ(error_of("\xC4\xEA\xC1\xE4,b\n1,2\n"), "line 1, column 1: the column's name isn't UTF-8") << "a table saved in GBK";
    EXPECT_EQ(error_of(std::string(200'000, ',')), "line 1: no comma, semicolon, tab or bar divides it into columns");
}

TEST(NearlyATable, MostLinesDivideLikeTheFirstIntoNumbers) {
    EXPECT_TRUE(nearly_a_table("a,b\n1,2\n3\n"));
    EXPECT_TRUE(nearly_a_table("a;b\n1;2\n3;4;5\n6;7\n"));
    EXPECT_FALSE(nearly_a_table("a,b\n1\n2\n3,4\n")) << "one of three lines";
    EXPECT_FALSE(nearly_a_table("To be, or not to be,\nthat is, the question, friends\nof mine, and so on\n"));
    EXPECT_FALSE(nearly_a_table("12\n13\n14\n"));
    EXPECT_FALSE(nearly_a_table("a,b\n"));
}

TEST(MissingFields, AreTheUsualWords) {
    for (const char* word : {"", "NA", "N/A", "NaN", "null", "None", "?"}) EXPECT_TRUE(is_missing(word)) << word;
    for (const char* word : {"0", "no", "-", "inf", "x"}) EXPECT_FALSE(is_missing(word)) << word;
}

TEST(Utf8, WellFormedCharactersOnly) {
    for (const char* good : {"", "a", "é", "标签", "😀", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) EXPECT_FALSE(first_bad_utf8(good)) << good;
    const std::vector<std::pair<std::string, std::size_t>> bad{{"a\xFF", 1}, {"\xC0\x80", 0}, {"\xE0\x80\x80", 0}, {"\xED\xA0\x80", 0}, {"\xF4\x90\x80\x80", 0}, {"ab\xE6\xA0", 2}, {"\x80", 0}, {"\xF5\x80\x80\x80", 0}};
    for (const auto& [text, place] : bad) EXPECT_EQ(first_bad_utf8(text), place);
    for (const char32_t character : {U'a', U'é', U'标', U'😀'}) {
        std::size_t at = 0;
        EXPECT_EQ(next_character(to_utf8(character), at), character);
        EXPECT_EQ(at, to_utf8(character).size());
    }
}

}  // namespace
}  // namespace mantissa
