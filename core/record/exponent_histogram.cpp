#include "record/exponent_histogram.h"

#include <array>
#include <cmath>
#include <map>

#include "base/assert.h"

namespace mantissa {
namespace {

constexpr int sixteenths = 16, older_bins = 4080;      // below Inf
constexpr std::uint64_t mark_of_divided_bins = 4096;  // no index of the older form
/// How far below 2 the last sixteenth is divided.
constexpr std::array<double, bins_per_exponent - sixteenths> below_two{0x1p-7, 0x1p-8, 0x1p-10, 0x1p-11};

void put(std::string& blob, std::uint64_t value) {
    while (value >= 0x80) {
        blob.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    blob.push_back(static_cast<char>(value));
}

bool take(std::string_view& blob, std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !blob.empty(); shift += 7) {
        const auto byte = static_cast<std::uint8_t>(blob.front());
        blob.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

Error damaged() {
    return {ErrorCode::InputOutput, "an exponent histogram of the recording is damaged", "the other figures of the tensor still hold"};
}

/// A bin of the older form, bits of a float32 >> 19. Those of subnormal numbers have no exponents of their own but lie evenly, 2^-130 apart.
HistogramBin from_older(int index, std::uint64_t on_edge, std::uint64_t inside) {
    constexpr int first_normal = (-126 - lowest_bin_exponent) * bins_per_exponent;
    const int field = index / sixteenths, sixteenth = index % sixteenths;
    int first = first_normal + (field - 1) * bins_per_exponent + sixteenth;
    int end = first + (sixteenth == sixteenths - 1 ? bins_per_exponent - sixteenth : 1);
    if (field == 0) {
        first = index == 0 ? 0 : histogram_place(index * 0x1p-130).index;
        end = histogram_place((index + 1) * 0x1p-130).index;
    }
    return {static_cast<std::uint16_t>(first), on_edge, inside, static_cast<std::uint16_t>(end - first)};
}

}  // namespace

std::uint64_t ExponentHistogram::count() const {
    std::uint64_t sum = 0;
    for (const HistogramBin& bin : bins) sum += bin.on_edge + bin.inside;
    return sum;
}

std::string ExponentHistogram::to_blob() const {
    std::string blob;
    if (bins.empty()) return blob;
    put(blob, mark_of_divided_bins);
    std::uint64_t next = 0;
    for (const HistogramBin& bin : bins) {
        MANTISSA_ASSERT(bin.parts == 1);
        put(blob, bin.index - next);
        put(blob, bin.on_edge);
        put(blob, bin.inside);
        next = std::uint64_t{bin.index} + 1;
    }
    return blob;
}

Result<ExponentHistogram> ExponentHistogram::from_blob(std::string_view blob) {
    ExponentHistogram histogram;
    std::string_view rest = blob;
    std::uint64_t mark = 0;
    if (!blob.empty() && !take(rest, mark)) return damaged();
    const bool is_divided = mark == mark_of_divided_bins;
    if (is_divided) blob = rest;
    const auto end = static_cast<std::uint64_t>(is_divided ? histogram_bins : older_bins);
    std::uint64_t next = 0;
    while (!blob.empty()) {
        std::uint64_t skip = 0, on_edge = 0, inside = 0;
        if (!take(blob, skip) || !take(blob, on_edge) || !take(blob, inside)) return damaged();
        if (skip >= end - next) return damaged();
        next += skip;
        const auto index = static_cast<int>(next);
        histogram.bins.push_back(is_divided ? HistogramBin{static_cast<std::uint16_t>(index), on_edge, inside}
                                            : from_older(index, on_edge, inside));
        ++next;
        if (next == end && !blob.empty()) return damaged();
    }
    return histogram;
}

HistogramPlace histogram_place(double magnitude) {
    if (magnitude < 0x1p-149) return {0, false};
    if (magnitude >= 0x1p128) return {histogram_bins - 1, false};
    int exponent = 0;
    const double mantissa = 2 * std::frexp(magnitude, &exponent), place = (mantissa - 1) * sixteenths;
    const auto sixteenth = static_cast<int>(place);
    int part = 0;
    for (const double below : below_two) part += 2 - mantissa <= below ? 1 : 0;
    return {(exponent - 1 - lowest_bin_exponent) * bins_per_exponent + sixteenth + part, part == 0 && place == sixteenth};
}

ExponentHistogram histogram_of(const std::vector<double>& values) {
    std::map<int, HistogramBin> bins;
    for (const double value : values) {
        if (!std::isfinite(value) || value == 0) continue;
        const HistogramPlace place = histogram_place(std::abs(value));
        HistogramBin& bin = bins[place.index];
        bin.index = static_cast<std::uint16_t>(place.index);
        ++(place.is_on_edge ? bin.on_edge : bin.inside);
    }
    ExponentHistogram histogram;
    for (const auto& [index, bin] : bins) histogram.bins.push_back(bin);
    return histogram;
}

double bin_edge(int index) {
    const int place = index % bins_per_exponent;
    const double mantissa = place < sixteenths ? 1 + place / double{sixteenths} : 2 - below_two[static_cast<std::size_t>(place - sixteenths)];
    return std::ldexp(mantissa, exponent_of_bin(index));
}

double bin_end(const HistogramBin& bin) { return bin_edge(bin.index + bin.parts); }

int exponent_of_bin(int index) { return index / bins_per_exponent + lowest_bin_exponent; }

}  // namespace mantissa
