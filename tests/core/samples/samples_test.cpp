#include "samples/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string idx(int type, std::initializer_list<int> sizes, std::initializer_list<int> values) {
    std::string text{'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
    for (const int size : sizes) text += std::string{'\0', '\0', static_cast<char>(size >> 8), static_cast<char>(size & 255)};
    for (const int value : values) text += static_cast<char>(value);
    return text;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& content) {
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    return std::string("\x93NUMPY\1") + '\0' + static_cast<char>(header.size()) + '\0' + header + content;
}

std::string floats(std::initializer_list<float> values) {
    std::string text;
    for (const float value : values) text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return text;
}

class SamplesTest : public ::testing::Test {
  protected:
    void put(const std::string& name, const std::string& content) { static_cast<void>(m_folder.file(name, content)); }
    Samples read(const std::string& name, const std::string& content) {
        m_plan.file = m_folder.file(name, content);
        return read();
    }
    Samples read() {
        auto samples = read_samples(m_plan);
        EXPECT_TRUE(samples.ok()) << describe(samples.error());
        return samples ? std::move(*samples) : Samples{};
    }
    Error error_of(const std::string& content, const std::string& name = "data.csv") {
        m_plan.file = m_folder.file(name, content);
        const auto samples = read_samples(m_plan);
        EXPECT_FALSE(samples.ok()) << content.substr(0, 80);
        return samples ? Error{} : samples.error();
    }
    static std::vector<float> features(const Samples& samples) { return {samples.features.data(), samples.features.data() + samples.features.size()}; }
    DatasetPlan m_plan;
    TemporaryFolder m_folder;
};

TEST_F(SamplesTest, ATableWithNamesAndWordsAsLabels) {
    const Samples samples = read("flowers.csv", "\xEF\xBB\xBF花萼,petal,种类\n5.1,1.4,山鸢尾\n7,4.7,变色鸢尾\n6.3,6,山鸢尾\n");
    EXPECT_EQ(samples.facts.format, "CSV");
    EXPECT_THAT(samples.facts.columns, ElementsAre("花萼", "petal"));
    EXPECT_EQ(samples.facts.target_name, "种类");
    EXPECT_THAT(samples.facts.classes, ElementsAre("变色鸢尾", "山鸢尾"));
    EXPECT_THAT(samples.labels, ElementsAre(1, 0, 1));
    EXPECT_THAT(features(samples), ElementsAre(5.1f, 1.4f, 7, 4.7f, 6.3f, 6));
    EXPECT_THAT(samples.facts.shape, ElementsAre(2));
}

TEST_F(SamplesTest, LabelsAreFoundByNameOrAreTheLastColumn) {
    EXPECT_EQ(read("a.csv", "class,x\n0,1.5\n1,2.5\n").facts.target_name, "class");
    EXPECT_EQ(read("a.csv", "a,b,c\n0.5,1.5,0\n1.5,2.5,1\n").facts.target_name, "c");
    m_plan.labels = "a";
    EXPECT_THAT(read("a.csv", "a,b,c\n3,1.5,0\n7,2.5,1\n").facts.classes, ElementsAre("3", "7"));
    m_plan.labels = "2";
    EXPECT_THAT(features(read("a.csv", "5,0,1\n6,1,2\n")), ElementsAre(5, 1, 6, 2));
    m_plan.labels = "clas";
    const Error slip = error_of("class,x\n0,1\n1,2\n");
    EXPECT_EQ(slip.message, "dataset.labels is \"clas\", which no column of the table is called");
    EXPECT_EQ(slip.hint, "did you mean class?");
    m_plan.labels = "x";
    EXPECT_THAT(error_of("x,x,y\n1,2,3\n1,2,3\n").message, HasSubstr("several columns are called"));
}

TEST_F(SamplesTest, ColumnsAreLeftOut) {
    m_plan.leave_out = {"id", "name"};
    const Samples samples = read("a.csv", "id,name,x,label\n1,Ann,0.5,0\n2,Bob,1.5,1\n");
    EXPECT_THAT(samples.facts.columns, ElementsAre("x"));
    EXPECT_THAT(features(samples), ElementsAre(0.5f, 1.5f));
    m_plan.leave_out = {"id"};
    const Error word = error_of("id,name,x,label\n1,Ann,0.5,0\n2,Bob,1.5,1\n");
    EXPECT_THAT(word.message, HasSubstr("data.csv line 2, column 2 (name): 'Ann' is no number"));
    EXPECT_THAT(word.hint, HasSubstr("dataset.leave_out"));
    m_plan.leave_out = {"x"};
    EXPECT_THAT(error_of("x,y\n1,0\n2,1\n").message, HasSubstr("leaves no feature"));
}

TEST_F(SamplesTest, WholeNumbersAreClassesOthersAreValues) {
    EXPECT_EQ(read("a.csv", "x,y\n1,0\n2,1\n3,0\n").facts.target, SampleTarget::Classes);
    const Samples values = read("a.csv", "x,y\n1,0.5\n2,1\n3,-2\n");
    EXPECT_EQ(values.facts.target, SampleTarget::Values);
    EXPECT_THAT(values.values, ElementsAre(0.5f, 1, -2));
    EXPECT_TRUE(values.labels.empty() && values.facts.classes.empty());
    // Both sides of the limit of what is plainly a class: 100 different ones that don't count from 0.
    const auto table = [](int different) {
        std::string text = "x,y\n";
        for (int i = 0; i < different; ++i) text += "1," + std::to_string(1900 + i) + "\n";
        return text;
    };
    EXPECT_EQ(read("a.csv", table(100)).facts.target, SampleTarget::Classes);
    EXPECT_EQ(read("a.csv", table(101)).facts.target, SampleTarget::Values);
    m_plan.target = TargetWish::Classes;
    EXPECT_EQ(read("a.csv", table(101)).facts.classes.size(), 101u);
    m_plan.target = TargetWish::Values;
    EXPECT_THAT(read("a.csv", "x,y\n1,0\n2,1\n").values, ElementsAre(0, 1));
    EXPECT_THAT(error_of("x,y\n1,a\n2,b\n").message, HasSubstr("the label column y holds texts, and dataset.target is \"values\""));
    m_plan.target = TargetWish::Classes;
    EXPECT_THAT(error_of("x,y\n1,0.5\n2,1\n").message, HasSubstr("holds numbers that aren't whole"));
    EXPECT_THAT(error_of("x,y\n1,3\n2,3\n").message, HasSubstr("has one class only, 3"));
}

TEST_F(SamplesTest, MissingValuesAreRefusedDroppedOrLeftToBeFilled) {
    const std::string table = "x,y,label\n1,2,a\nNA,3,b\n4,,a\n5,6,\n";
    const Error refused = error_of(table);
    EXPECT_THAT(refused.message, HasSubstr("line 3, column 1 (x): the value is missing"));
    EXPECT_THAT(refused.hint, HasSubstr("dataset.missing mean"));
    m_plan.missing = MissingRule::Drop;
    const Error one_class = error_of(table);
    EXPECT_THAT(one_class.message, HasSubstr("has one class only, a"));
    const Samples dropped = read("b.csv", table + "7,8,b\n");
    EXPECT_EQ(dropped.facts.samples, 2);
    EXPECT_EQ(dropped.facts.dropped, 3);
    m_plan.missing = MissingRule::Mean;
    EXPECT_THAT(error_of(table).message, HasSubstr("line 5, column 3 (label): the label is missing"));
    const Samples filled = read("c.csv", "x,y,label\n1,2,a\nNA,3,b\n");
    EXPECT_EQ(filled.facts.missing, 1);
    EXPECT_TRUE(std::isnan(features(filled)[2]));
}

TEST_F(SamplesTest, BadTablesAreNamed) {
    EXPECT_THAT(error_of("x,y\n1,0\n1e39,1\n").message, HasSubstr("line 3, column 1 (x): 1e39 is more than fp32 can hold"));
    EXPECT_THAT(error_of("x,y\n1,0\ninf,1\n").message, HasSubstr("line 3, column 1 (x): 'inf' is no finite number"));
    const Error comma = error_of("x;z;y\n1,5;2;0\n2,5;2;1\n");
    EXPECT_THAT(comma.message, HasSubstr("line 2, column 1 (x): '1,5' is no number"));
    EXPECT_EQ(comma.hint, "write decimals with a point: 3.14");
    EXPECT_THAT(error_of("x,y\n").message, HasSubstr("holds names of columns and no row"));
    EXPECT_THAT(error_of("x,y\n1,\xC4\xEA\n2,b\n").message, HasSubstr("line 2, column 2 (y): the label isn't UTF-8"));
    EXPECT_THAT(error_of("").message, HasSubstr("is empty"));
    EXPECT_THAT(error_of(std::string("\x7F" "ELF\2\1\1\0\0\0", 10)).message, HasSubstr("none of the kinds of data files"));
}

TEST_F(SamplesTest, IdxImagesWithTheirLabelsBeside) {
    put("train-labels-idx1-ubyte", idx(8, {3}, {9, 0, 9}));
    const Samples samples = read("train-images-idx3-ubyte", idx(8, {3, 2, 2}, {0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(samples.facts.format, "IDX");
    EXPECT_EQ(samples.facts.element, "uint8");
    EXPECT_TRUE(samples.facts.are_bytes);
    EXPECT_THAT(samples.facts.shape, ElementsAre(1, 2, 2)) << "an image of one channel";
    EXPECT_THAT(samples.facts.classes, ElementsAre("0", "9"));
    EXPECT_THAT(samples.labels, ElementsAre(1, 0, 1));
    EXPECT_THAT(features(samples), ElementsAre(0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    EXPECT_EQ(samples.facts.target_name, "train-labels-idx1-ubyte");
}

TEST_F(SamplesTest, BadPairsOfArraysAreNamed) {
    EXPECT_THAT(error_of(idx(8, {2, 1, 1}, {1, 2}), "a-images").message, HasSubstr("no file of labels lies beside it"));
    put("a-labels", idx(8, {3}, {0, 1, 0}));
    EXPECT_THAT(error_of(idx(8, {2, 1, 1}, {1, 2}), "a-images").message, HasSubstr("holds 2 samples"));
    put("a-labels", idx(8, {2, 2}, {0, 1, 1, 0}));
    const Error one_hot = error_of(idx(8, {2, 1, 1}, {1, 2}), "a-images");
    EXPECT_THAT(one_hot.message, HasSubstr("holds labels of 2 × 2, one number a sample is needed"));
    EXPECT_THAT(one_hot.hint, HasSubstr("argmax"));
    put("a-labels", idx(8, {2}, {0, 1}));
    EXPECT_THAT(error_of(idx(8, {2, 1, 1}, {1}), "a-images").message, HasSubstr("ends at byte 17, in the middle of its elements"));
    EXPECT_THAT(error_of(idx(8, {2, 1, 1}, {1, 2, 3}), "a-images").message, HasSubstr("goes on after its last element, at byte 18"));
    m_plan.labels = "b-labels";
    EXPECT_THAT(error_of(idx(8, {2, 1, 1}, {1, 2}), "a-images").message, HasSubstr("b-labels can't be read: No such file"));
}

TEST_F(SamplesTest, NpyWithYBesideX) {
    put("y_train.npy", npy("<f4", "(2, 1)", floats({0.5f, 2})));
    const Samples samples = read("X_train.npy", npy("<f4", "(2, 3)", floats({1, 2, 3, 4, 5, 6})));
    EXPECT_EQ(samples.facts.format, "npy");
    EXPECT_EQ(samples.facts.target, SampleTarget::Values);
    EXPECT_THAT(samples.values, ElementsAre(0.5f, 2));
    EXPECT_THAT(samples.facts.shape, ElementsAre(3));
    EXPECT_FALSE(samples.facts.are_bytes);
    EXPECT_THAT(error_of(npy("<f4", "(2, 1)", floats({1, NAN})), "X_train.npy").message, HasSubstr("sample 1, value 0: NaN"));
    m_plan.missing = MissingRule::Drop;
    EXPECT_EQ(read("X_train.npy", npy("<f4", "(2, 1)", floats({1, NAN}))).facts.dropped, 1);
}

TEST_F(SamplesTest, TextBecomesWindowsOfCharacters) {
    m_plan.context = 3;
    const Samples samples = read("t.txt", "ab标b\nab标ba");
    EXPECT_EQ(samples.facts.format, "text");
    EXPECT_EQ(samples.facts.samples, 3) << "10 characters: three windows, each with the character behind it";
    EXPECT_THAT(samples.facts.classes, ElementsAre("\n", "a", "b", "标"));
    EXPECT_THAT(features(samples), ElementsAre(1, 2, 3, 2, 0, 1, 2, 3, 2));
    EXPECT_THAT(samples.labels, ElementsAre(2, 3, 2, 0, 1, 2, 3, 2, 1));
    EXPECT_TRUE(samples.facts.are_tokens);
    EXPECT_THAT(error_of("abc", "t.txt").message, HasSubstr("holds 3 characters, 4 are the fewest for one sample"));
    EXPECT_THAT(error_of(std::string(5000, 'a') + "\xFF and more", "t.txt").message, HasSubstr("isn't UTF-8 at byte 5000"));
}

// A character that two blocks of reading share is one character.
TEST_F(SamplesTest, ALongTextIsReadInBlocks) {
    m_plan.context = 100;
    std::string text = "x";
    while (text.size() < 200'000) text += "标";
    EXPECT_EQ(read("t.txt", text).facts.samples, static_cast<std::int64_t>((text.size() - 1) / 3 / 100));
}

TEST_F(SamplesTest, MoreSamplesThanMemoryHoldsLieOnDisk) {
    std::string table = "x,y\n";
    for (int i = 0; i < 400'000; ++i) table += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
    m_plan.file = m_folder.file("long.csv", table);
    const auto samples = read_samples(m_plan, {.bytes_in_memory = 1u << 20});
    ASSERT_TRUE(samples.ok()) << describe(samples.error());
    EXPECT_TRUE(samples->features.is_on_disk());
    EXPECT_EQ(samples->facts.samples, 400'000);
    for (int i = 0; i < 400'000; i += 777) ASSERT_EQ(samples->features.data()[i], static_cast<float>(i));
    const auto first = read_samples(m_plan, {.most_samples = 10});
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->facts.samples, 10);
}

TEST_F(SamplesTest, ContentTellsTheKindAndNoName) {
    const std::vector<std::pair<std::string, FileKind>> files{{idx(8, {4}, {1, 2, 3, 4}), FileKind::Idx},
                                                              {npy("<f4", "(1,)", floats({1})), FileKind::Npy},
                                                              {"a,b\n1,2\n", FileKind::Table},
                                                              {"To be, or not to be,\nthat is the question.\n", FileKind::Text}};
    for (const auto& [content, kind] : files) {
        const auto found = file_kind(m_folder.file("data.bin", content));
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(*found, kind) << to_string(kind);
    }
    const auto packed = m_folder.path() / "packed";
    gzFile file = gzopen(packed.c_str(), "wb");
    gzwrite(file, "a,b\n1,2\n", 8);
    gzclose(file);
    EXPECT_EQ(*file_kind(packed), FileKind::Table);
}

TEST_F(SamplesTest, WhatARunReadsIsLookedAtBefore) {
    EXPECT_TRUE(check_data_file({}).ok());
    DatasetPlan plan;
    plan.file = m_folder.file("sorted.csv", "x,y\n1,0\n2,0\n3,1\n");
    EXPECT_TRUE(check_data_file(plan).ok());
    plan.file = (m_folder.path() / "not there.csv").string();
    const auto missing = check_data_file(plan);
    ASSERT_FALSE(missing.ok());
    EXPECT_THAT(missing.error().message, HasSubstr("not there.csv can't be read: No such file"));
}

}  // namespace
}  // namespace mantissa
