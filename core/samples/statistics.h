#pragma once
// What a person wants to know of data before training in half precision: range and gaps of each column, and what fp16 would do to the
// values and to their squares (a squared error, a variance, a norm).
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "samples/samples.h"

namespace mantissa {

struct ColumnStatistics {
    std::string name;                          // "all values" for the whole
    std::int64_t count = 0, missing = 0;       // values that are there, and that aren't
    double smallest = 0, largest = 0, mean = 0, deviation = 0;
    std::int64_t beyond_fp16 = 0;              // become infinite as fp16
    std::int64_t squares_beyond_fp16 = 0;      // whose square does, |x| from 255.9375 on
    std::int64_t flushed = 0;                  // not 0, but 0 as fp16
    std::int64_t squares_flushed = 0;          // not 0, but 0 when squared in fp16
};

struct SampleStatistics {
    ColumnStatistics all;
    std::vector<ColumnStatistics> columns;      // of tables; empty for images and tokens
    std::vector<std::int64_t> of_class;         // samples of each class; of a text: how often each character is to be learned
    double smallest_value = 0, largest_value = 0, mean_value = 0;  // of values to be learned
};

/// Four digits at most, for people: "5.738", "0.65", "1,539".
[[nodiscard]] std::string readable_statistic(double value);

/// Of the samples as the file holds them, before normalisation.
[[nodiscard]] SampleStatistics describe_samples(const Samples& samples);

}  // namespace mantissa
