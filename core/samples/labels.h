#pragma once
// Labels as they are met, one a sample, until it is known what they are: classes or values. Internal to core/samples.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "samples/samples.h"

namespace mantissa::samples {

inline constexpr std::size_t most_classes = 10'000;

class LabelCollector {
  public:
    /// A label as it is written. False: with it there are texts among the labels, and more different ones than may be classes.
    [[nodiscard]] bool add(std::string_view text);
    void add(double number);

    /// Fills target, classes, labels and values. The error's message says what is wrong with the labels, without their name. The first
    /// samples of a file (`is_part`) may be of one class.
    Result<void> finish(TargetWish wish, bool is_part, Samples& samples);

  private:
    [[nodiscard]] bool are_whole() const;
    void make_classes(Samples& samples) const;

    std::map<std::string, std::int32_t, std::less<>> m_texts;  // as written, in the order they came; empty for numbers of an array
    std::vector<std::int32_t> m_written;                       // places in m_texts, one a sample while there are few enough
    std::vector<double> m_numbers;                             // one a sample while all are numbers
    bool m_are_numbers = true, m_keeps_texts = true;
};

}  // namespace mantissa::samples
