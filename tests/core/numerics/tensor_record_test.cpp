// The fused pass against plain loops in double precision: every dtype, layout and odd length, all special values.
#include "numerics/tensor_record.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "numerics/dtype_names.h"
#include "numerics/value_blocks.h"
#include "record/exponent_histogram.h"

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double smallest_normal(at::ScalarType type) {
    switch (type) {
        case at::kHalf:
        case at::kFloat8_e5m2:
            return 0x1p-14;
        case at::kFloat8_e4m3fn:
            return 0x1p-6;
        case at::kDouble:
            return 0x1p-1022;
        default:
            return 0x1p-126;
    }
}

/// The bin of a magnitude, found by the edges alone.
int bin_of(double magnitude) {
    int low = 0, high = histogram_bins;
    while (low + 1 < high) {
        const int middle = (low + high) / 2;
        (bin_edge(middle) <= magnitude ? low : high) = middle;
    }
    return low;
}

/// One value at a time, from the doubles that the tensor's values are.
TensorStatRow naive_record(const torch::Tensor& tensor) {
    const torch::Tensor doubles = tensor.to(at::kDouble).contiguous();
    TensorStatRow row;
    row.dtype = dtype_name(tensor.scalar_type());
    row.elements = tensor.numel();
    row.smallest_nonzero = infinity;
    std::map<int, std::pair<std::uint64_t, std::uint64_t>> bins;
    long double sum = 0, magnitudes = 0, squares = 0;
    std::int64_t finite = 0;
    for (std::int64_t i = 0; i < row.elements; ++i) {
        const double value = doubles.const_data_ptr<double>()[i], magnitude = std::abs(value);
        if (std::isnan(value)) {
            ++row.nan;
        } else if (std::isinf(value)) {
            ++(value > 0 ? row.pos_inf : row.neg_inf);
        } else {
            ++finite;
            sum += value;
            magnitudes += magnitude;
            squares += static_cast<long double>(value) * value;
            row.largest = std::max(row.largest, magnitude);
            if (value == 0) {
                ++row.zero;
                continue;
            }
            row.negative += value < 0 ? 1 : 0;
            row.subnormal += magnitude < smallest_normal(tensor.scalar_type()) ? 1 : 0;
            row.smallest_nonzero = std::min(row.smallest_nonzero, magnitude);
            const int bin = bin_of(magnitude);
            ++(bin_edge(bin) == magnitude && bin % bins_per_exponent < 16 ? bins[bin].first : bins[bin].second);
        }
    }
    if (row.smallest_nonzero == infinity) row.smallest_nonzero = 0;
    if (finite > 0) {
        row.mean = static_cast<double>(sum / finite);
        row.mean_abs = static_cast<double>(magnitudes / finite);
        row.rms = static_cast<double>(sqrtl(squares / finite));
    }
    ExponentHistogram histogram;
    for (const auto& [bin, count] : bins) histogram.bins.push_back({static_cast<std::uint16_t>(bin), count.first, count.second});
    row.exponents = histogram.to_blob();
    return row;
}

void expect_near(double value, double expected, double size) { EXPECT_LE(std::abs(value - expected), 1e-12 * size) << value << " " << expected; }

void expect_same(const TensorStatRow& row, const TensorStatRow& expected) {
    EXPECT_EQ(row.dtype, expected.dtype);
    EXPECT_EQ(row.elements, expected.elements);
    EXPECT_EQ(row.nan, expected.nan);
    EXPECT_EQ(row.pos_inf, expected.pos_inf);
    EXPECT_EQ(row.neg_inf, expected.neg_inf);
    EXPECT_EQ(row.zero, expected.zero);
    EXPECT_EQ(row.negative, expected.negative);
    EXPECT_EQ(row.subnormal, expected.subnormal);
    EXPECT_EQ(row.largest, expected.largest);
    EXPECT_EQ(row.smallest_nonzero, expected.smallest_nonzero);
    expect_near(row.mean, expected.mean, expected.mean_abs);
    expect_near(row.mean_abs, expected.mean_abs, expected.mean_abs);
    expect_near(row.rms, expected.rms, expected.rms);
    EXPECT_EQ(row.exponents, expected.exponents);
    const auto histogram = ExponentHistogram::from_blob(row.exponents);
    ASSERT_TRUE(histogram.ok());
    EXPECT_EQ(static_cast<std::int64_t>(histogram->count()), row.elements - row.zero - row.nan - row.pos_inf - row.neg_inf);
}

/// The device-neutral form, on the CPU.
TensorStatRow packed_row(const torch::Tensor& tensor, double factor = 1) {
    TensorStatRow row;
    row.dtype = dtype_name(tensor.scalar_type());
    row.elements = tensor.numel();
    packed_record::unpack(packed_record::pack(tensor, factor), tensor.scalar_type(), row);
    return row;
}

void expect_right(const torch::Tensor& tensor) {
    const TensorStatRow expected = naive_record(tensor);
    {
        SCOPED_TRACE("fast");
        expect_same(tensor_record(tensor), expected);
    }
    {
        SCOPED_TRACE("packed");
        expect_same(packed_row(tensor), expected);
    }
}

/// All bit patterns of a format of 8 or 16 bits, in an order that mixes them.
torch::Tensor every_value(at::ScalarType type) {
    const std::int64_t bits = 8 * static_cast<std::int64_t>(c10::elementSize(type));
    const torch::Tensor patterns = at::arange(std::int64_t{1} << bits, at::kLong).mul(40503).bitwise_and((std::int64_t{1} << bits) - 1);
    return (bits == 8 ? patterns.to(at::kByte) : patterns.to(at::kShort)).view(type);
}

class EveryValue : public testing::TestWithParam<at::ScalarType> {};

TEST_P(EveryValue, IsReadAsItIs) { expect_right(every_value(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Formats, EveryValue, testing::Values(at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn, at::kFloat8_e5m2),
                         [](const auto& one) { return std::string(c10::toString(one.param)); });

class Dtypes : public testing::TestWithParam<at::ScalarType> {
  protected:
    static torch::Tensor values(at::IntArrayRef shape, double spread = 3) {
        return (torch::randn(shape, at::kDouble) * torch::exp(spread * torch::randn(shape, at::kDouble))).to(GetParam());
    }
};

TEST_P(Dtypes, EveryLengthAroundTheEdgesOfBlocks) {
    torch::manual_seed(1);
    for (const std::int64_t length : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 2047, 2048, 2049, 2055, 4096, 10'001}) {
        SCOPED_TRACE(length);
        expect_right(values({length}));
    }
}

TEST_P(Dtypes, EveryLayout) {
    torch::manual_seed(2);
    const torch::Tensor whole = values({6, 8, 10, 12});
    expect_right(whole.transpose(0, 2));
    expect_right(whole.slice(3, 1, 12, 3));
    expect_right(whole.permute({0, 2, 3, 1}));
    expect_right(values({1, 7}).expand({300, 7}));
    expect_right(whole.slice(0, 3, 4).reshape({-1}).slice(0, 1));  // begins in the middle of its memory
    expect_right(values({}));
    expect_right(at::full({100}, -0.0, at::kFloat).to(GetParam()));
}

TEST_P(Dtypes, AWideRangeWithEverySpecialValue) {
    torch::manual_seed(3);
    torch::Tensor special = values({5000}, 40);  // overflows and underflows in every format
    const auto put = [&special](std::int64_t at, double value) { special.slice(0, at, at + 1).copy_(torch::tensor({value}, at::kDouble)); };
    put(17, infinity);
    put(18, -infinity);
    put(19, std::nan(""));
    put(20, -0.0);
    put(4999, -infinity);
    expect_right(special);
    expect_right(at::full({3000}, std::numeric_limits<double>::quiet_NaN(), at::kDouble).to(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Formats, Dtypes,
                         testing::Values(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn, at::kFloat8_e5m2),
                         [](const auto& one) { return std::string(c10::toString(one.param)); });

TEST(TensorRecord, Fp32AtItsEndsAndNanPayloads) {
    std::vector<std::int32_t> bits;
    for (const std::uint32_t magnitude : {0x00000000U, 0x00000001U, 0x0007FFFFU, 0x00080000U, 0x00080001U, 0x007FFFFFU, 0x00800000U,
                                          0x33000000U, 0x33000001U, 0x32FFFFFFU, 0x477FE000U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U,
                                          0x7F880000U, 0x7FC00000U, 0x7FFFFFFFU}) {
        bits.push_back(static_cast<std::int32_t>(magnitude));
        bits.push_back(static_cast<std::int32_t>(magnitude | 0x80000000U));
    }
    const torch::Tensor tensor = torch::tensor(bits, at::kInt).view(at::kFloat);
    expect_right(tensor);
    const TensorStatRow row = tensor_record(tensor);
    EXPECT_EQ(row.nan, 8);
    EXPECT_EQ(row.pos_inf, 1);
    EXPECT_EQ(row.neg_inf, 1);
    EXPECT_EQ(row.zero, 2);
    EXPECT_EQ(row.subnormal, 10);
    EXPECT_EQ(row.smallest_nonzero, 0x1p-149);
}

// Beside every border, of subnormal and of ordinary exponents.
TEST(TensorRecord, Fp32AtTheBordersOfBins) {
    std::vector<std::int32_t> bits;
    for (const std::uint32_t exponent : {0U, 1U, 102U, 127U, 254U}) {
        for (std::uint32_t sixteenth = 0; sixteenth < 16; ++sixteenth) bits.push_back(static_cast<std::int32_t>((exponent << 23) + (sixteenth << 19)));
        for (const unsigned shift : {19U, 18U, 17U, 16U, 15U, 14U, 13U, 12U, 11U, 0U}) {
            for (std::uint32_t beside = 0; beside < 3; ++beside)
                bits.push_back(static_cast<std::int32_t>((exponent << 23) + 0x80'0000U - (1U << shift) + beside - 1));
        }
    }
    for (unsigned shift = 0; shift < 23; ++shift) {
        for (const std::uint32_t pattern : {1U, 3U, 31U, 127U, 255U, 511U, 1023U, 2047U, 4095U})
            bits.push_back(static_cast<std::int32_t>((pattern << shift) & 0x7F'FFFFU));
    }
    expect_right(torch::tensor(bits, at::kInt).view(at::kFloat));
}

TEST(TensorRecord, DoublesBeyondFp32StayInTheFirstAndLastBin) {
    const std::vector<double> values{1e300, -1e300, 1e-300, 0x1p-149, 0x1.8p-149, 0x1p-1074, 0x1p127, 0x1.00000001p10, -0x1p10};
    const torch::Tensor tensor = torch::tensor(values, at::kDouble);
    for (const TensorStatRow& row : {tensor_record(tensor), packed_row(tensor)}) {
        EXPECT_EQ(row.largest, 1e300);
        EXPECT_EQ(row.smallest_nonzero, 0x1p-1074);
        EXPECT_EQ(row.subnormal, 1);
        EXPECT_NEAR(row.rms, 1e300 * std::sqrt(2.0 / 9), 1e288);
        EXPECT_NEAR(row.mean_abs, 2e300 / 9, 1e288);
        const std::vector<HistogramBin> expected{{0, 1, 2}, {8, 1, 0}, {(149 + 10) * 20, 1, 1}, {(149 + 127) * 20, 1, 0}, {5539, 0, 2}};
        EXPECT_EQ(ExponentHistogram::from_blob(row.exponents)->bins, expected);
    }
    // Squares that leave double precision at the small end.
    EXPECT_NEAR(tensor_record(torch::tensor({3e-300, 4e-300}, at::kDouble)).rms / std::sqrt(12.5), 1e-300, 1e-312);
}

class Factors : public testing::TestWithParam<double> {};

TEST_P(Factors, UnscaleAsThePrecisionDoes) {
    torch::manual_seed(4);
    const double factor = GetParam();
    for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kDouble}) {
        const torch::Tensor scaled = (torch::randn({3000}, at::kDouble) * torch::exp(8 * torch::randn({3000}, at::kDouble))).to(type);
        TensorStatRow expected =
            naive_record(type == at::kDouble ? scaled * factor : scaled.to(at::kFloat) * at::scalar_tensor(factor, at::kFloat));
        expected.dtype = dtype_name(type);
        TensorStatRow fast = tensor_record(scaled, factor), packed = packed_row(scaled, factor);
        for (TensorStatRow* row : {&fast, &packed, &expected})
            if (type == at::kHalf) row->subnormal = 0;  // of fp16, not of the product
        expect_same(fast, expected);
        expect_same(packed, expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Values, Factors, testing::Values(0x1p-16, 1.0 / 3.0, 0x1p40, 1e-30));

TEST(UpdateRecord, TellsTheShareThatDidNotMove) {
    torch::manual_seed(5);
    const torch::Tensor before = torch::randn({40, 60}), gradient = torch::randn({40, 60});
    torch::Tensor after = before - 1e-3 * gradient;
    after.slice(0, 0, 10) = before.slice(0, 0, 10);  // 600 of them stay
    gradient.slice(0, 0, 5) = 0;                     // 300 of those were not asked to move
    gradient.slice(0, 5, 6) = std::numeric_limits<double>::quiet_NaN();
    gradient.slice(0, 6, 7) = infinity;
    for (const bool is_transposed : {false, true}) {
        const auto as = [is_transposed](const torch::Tensor& t) { return is_transposed ? t.t() : t; };
        // Also when the gradient lies in memory in another order.
        for (const torch::Tensor& wish : {gradient, gradient.t().contiguous().t(), gradient.to(at::kDouble)}) {
            const TensorStatRow row = update_record(as(before), as(after), as(wish));
            TensorStatRow expected = naive_record(after - before);
            expect_same(row, expected);
            ASSERT_TRUE(row.unmoved.has_value());
            EXPECT_DOUBLE_EQ(*row.unmoved, 180.0 / 1980.0);
        }
    }
    TensorStatRow packed = naive_record(after);
    packed_record::unpack(packed_record::pack_update(before, after, gradient), at::kFloat, packed);
    expect_same(packed, naive_record(after - before));
    EXPECT_DOUBLE_EQ(packed.unmoved.value_or(-1), 180.0 / 1980.0);
    EXPECT_FALSE(update_record(before, after, torch::zeros({40, 60})).unmoved.has_value());
}

TEST(UpdateRecord, RoundedAwayInTheFormatOfTheWeight) {
    for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kFloat}) {
        const torch::Tensor before = at::full({100}, 1024.0, type);
        torch::Tensor after = before.clone();
        after.sub_(at::full({100}, 0.1, type));  // half a unit in the last place of fp16 is 0.25 at 1024, of bf16 2
        const TensorStatRow row = update_record(before, after, at::ones({100}));
        EXPECT_EQ(*row.unmoved, type == at::kFloat ? 0.0 : 1.0);
        EXPECT_EQ(row.zero, type == at::kFloat ? 0 : 100);
    }
}

TEST(Kernels, PlainAndFastOnesGiveTheSameBits) {
    torch::manual_seed(6);
    torch::Tensor values = torch::randn({2048}) * torch::exp(40 * torch::randn({2048}));
    values[5] = infinity;
    values[6] = -infinity;
    values[7] = std::nan("");
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{8}, std::size_t{1001}, std::size_t{2048}}) {
        blocks::Sums fast, plain;
        std::array<std::uint32_t, 2048> fast_keys{}, plain_keys{};
        blocks::look(values.const_data_ptr<float>(), count, fast, fast_keys.data());
        blocks::plain::look(values.const_data_ptr<float>(), count, plain, plain_keys.data());
        EXPECT_EQ(fast.sum, plain.sum);
        EXPECT_EQ(fast.magnitude, plain.magnitude);
        EXPECT_EQ(fast.square, plain.square);
        EXPECT_EQ(fast.largest_bits, plain.largest_bits);
        EXPECT_EQ(fast.smallest_bits, plain.smallest_bits);
        EXPECT_EQ(fast.negative, plain.negative);
        EXPECT_EQ(fast.neg_inf, plain.neg_inf);
        EXPECT_TRUE(std::equal(fast_keys.begin(), fast_keys.begin() + static_cast<std::ptrdiff_t>(count), plain_keys.begin()));
        const blocks::Extreme one = blocks::extreme_of(values.const_data_ptr<float>(), count);
        const blocks::Extreme other = blocks::plain::extreme_of(values.const_data_ptr<float>(), count);
        EXPECT_EQ(one.largest_bits, other.largest_bits);
        EXPECT_EQ(one.nonfinite, other.nonfinite);
    }
}

TEST(TensorRecords, KeepTheirOrderAndPassOverWhatIsNoFloat) {
    TensorRecords records;
    EXPECT_TRUE(records.empty());
    records.add("weight", TensorRole::Weight, torch::ones({3}));
    records.add("labels", TensorRole::Output, torch::ones({3}, at::kLong));
    records.add("none", TensorRole::Gradient, torch::Tensor());
    records.add_update("weight", torch::ones({3}), torch::zeros({3}), torch::ones({3}));
    EXPECT_FALSE(records.is_on_device());
    const auto rows = records.take(7);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].tensor, "weight");
    EXPECT_EQ(rows[0].step, 7);
    EXPECT_EQ(rows[1].role, TensorRole::Update);
    EXPECT_EQ(rows[1].mean, -1);
    EXPECT_EQ(rows[1].unmoved, 0.0);
    EXPECT_TRUE(records.empty());
}

}  // namespace
}  // namespace mantissa
