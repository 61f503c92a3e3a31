#pragma once
// Tells the story of a bad value backwards along the data flow, from what an OpWatch recorded. The caller holds the watch's mutex.
#include <optional>
#include <vector>

#include "numerics/op_watch.h"

namespace mantissa {

class BirthStory {
  public:
    explicit BirthStory(const OpWatch& watch) : m_watch(watch) {}

    /// The first cause of what is bad in a tensor; empty when it is finite, when its Inf is meant, or when nobody was seen to make it.
    [[nodiscard]] std::optional<BirthReport> cause_of(const Operand& bad);
    /// The first value of forward or loss that left its format, whether the loss shows it or not.
    [[nodiscard]] std::optional<BirthReport> hidden_overflow();

  private:
    enum class Kind { None, Birth, Leaf, Unnamed, Probing };
    struct Origin {
        Kind kind = Kind::None;
        int op = no_op;  // of a birth; of an unnamed tensor the op that met it
        const Leaf* leaf = nullptr;
        [[nodiscard]] bool is_cause() const { return kind != Kind::None && kind != Kind::Probing; }
    };
    void look_on();
    [[nodiscard]] Origin origin_of(const Operand& operand, int met_by) const;
    [[nodiscard]] Origin origin_of(const SeenOp& op) const;
    [[nodiscard]] BirthReport report(const Origin& origin) const;
    [[nodiscard]] BirthReport of_leaf(const Origin& origin) const;
    [[nodiscard]] BirthReport of_op(int index) const;
    void tell_before(int index, BirthReport& report) const;
    void tell_after(const Origin& origin, BirthReport& report) const;
    [[nodiscard]] const SeenOp& op(int index) const { return m_watch.ops[static_cast<std::size_t>(index)]; }

    const OpWatch& m_watch;
    std::vector<Origin> m_origins;  // of each op's results, as far as they were asked for
};

}  // namespace mantissa
