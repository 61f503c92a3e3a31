#include "record/exponent_histogram.h"

#include <bit>

namespace mantissa {
namespace {

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

}  // namespace

std::uint64_t ExponentHistogram::count() const {
    std::uint64_t sum = 0;
    for (const HistogramBin& bin : bins) sum += bin.on_edge + bin.inside;
    return sum;
}

std::string ExponentHistogram::to_blob() const {
    std::string blob;
    std::uint64_t next = 0;
    for (const HistogramBin& bin : bins) {
        put(blob, bin.index - next);
        put(blob, bin.on_edge);
        put(blob, bin.inside);
        next = std::uint64_t{bin.index} + 1;
    }
    return blob;
}

Result<ExponentHistogram> ExponentHistogram::from_blob(std::string_view blob) {
    ExponentHistogram histogram;
    std::uint64_t next = 0;
    while (!blob.empty()) {
        std::uint64_t skip = 0, on_edge = 0, inside = 0;
        if (!take(blob, skip) || !take(blob, on_edge) || !take(blob, inside)) return damaged();
        if (skip >= static_cast<std::uint64_t>(histogram_bins) - next) return damaged();
        next += skip;
        histogram.bins.push_back({static_cast<std::uint16_t>(next), on_edge, inside});
        ++next;
        if (next == static_cast<std::uint64_t>(histogram_bins) && !blob.empty()) return damaged();
    }
    return histogram;
}

double bin_edge(int index) { return std::bit_cast<float>(static_cast<std::uint32_t>(index) << 19); }

}  // namespace mantissa
