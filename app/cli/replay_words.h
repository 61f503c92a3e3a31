#pragma once
// A replay for people: lines while the grid fills in, and the whole of it at the end. Sentences of texts/<language>/replay_report.json.
#include <string>
#include <string_view>

#include "judge/texts.h"
#include "record/replay_report.h"

namespace mantissa::cli {

class ReplayWords {
  public:
    explicit ReplayWords(std::string_view language);

    [[nodiscard]] std::string text(const std::string& key, const TextValues& values = {}) const;
    /// "in bf16", "gate.mul in fp32": the one change of a variant.
    [[nodiscard]] std::string change(const VariantReport& variant) const;
    /// A variant that has ended: "in bf16: this step finite; then holds for 20 steps (3.1 s)".
    [[nodiscard]] std::string line(const VariantReport& variant) const;
    /// How the step came out, and where its first bad value was born.
    [[nodiscard]] std::string reproduced(const ReplayReport& report) const;
    /// Sentence, grid, ops around the birth. `command`: that replays the step; empty: nothing is said about applying.
    void print(const ReplayReport& report, const std::string& command) const;

  private:
    [[nodiscard]] std::string phase(const std::string& code) const;
    [[nodiscard]] std::string this_step(const VariantReport& variant) const;
    [[nodiscard]] std::string later(const VariantReport& variant) const;
    [[nodiscard]] std::string again(const ReplayReport& report) const;
    void print_grid(const ReplayReport& report) const;
    void print_ops(const ReplayReport& report) const;
    void print_next(const ReplayReport& report, const std::string& replay) const;

    const TextCatalogue* m_catalogue = nullptr;
};

/// "gate.mul", "aten::log", "the batch features".
[[nodiscard]] std::string birth_text(const BirthReport& birth);

}  // namespace mantissa::cli
