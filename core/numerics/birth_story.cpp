#include "numerics/birth_story.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

#include "numerics/birth_code.h"

namespace mantissa {
namespace {

constexpr std::size_t ancestors_told = 8, before_told = 12, after_told = 4;

}  // namespace

void BirthStory::look_on() {
    // An op's operands were made by earlier ops, so one pass in order finds all.
    while (m_origins.size() < m_watch.ops.size()) m_origins.push_back(origin_of(m_watch.ops[m_origins.size()]));
}

BirthStory::Origin BirthStory::origin_of(const Operand& operand, int met_by) const {
    if (operand.level == Level::Finite) return {};
    if (operand.producer != no_op) return m_origins[static_cast<std::size_t>(operand.producer)];
    if (operand.leaf != nullptr) {
        const bool is_mask = operand.level == Level::Inf && operand.leaf->may_be_meant;
        return {is_mask ? Kind::None : Kind::Leaf, met_by, operand.leaf};
    }
    // An Inf that nobody named is a mask that somebody meant; not so the factor by which gradients are unscaled.
    const bool is_scale = met_by != no_op && op(met_by).reading.phase == "unscale";
    return {operand.level == Level::Inf && !is_scale ? Kind::None : Kind::Unnamed, met_by, nullptr};
}

// What was bad before an op is the earlier cause; only where that is nothing, or was meant, the op's own birth counts.
BirthStory::Origin BirthStory::origin_of(const SeenOp& seen) const {
    if (seen.level == Level::Finite) return {};
    const int index = static_cast<int>(seen.reading.index);
    bool is_probing = seen.is_probing;
    for (const Level level : {Level::NaN, Level::Inf}) {
        for (const Operand& one : seen.operands) {
            if (one.level != level || one.producer >= index) continue;
            const Origin origin = origin_of(one, index);
            if (origin.is_cause()) return origin;
            is_probing = is_probing || origin.kind == Kind::Probing;
        }
    }
    if (is_probing) return {Kind::Probing, index, nullptr};
    return seen.reading.is_birth ? Origin{Kind::Birth, index, nullptr} : Origin{};
}

std::optional<BirthReport> BirthStory::cause_of(const Operand& bad) {
    look_on();
    Origin origin = origin_of(bad, no_op);
    // A buffer that is asked for itself, or that alone came in, is no mask of anything.
    if (origin.kind == Kind::None && bad.level != Level::Finite) {
        for (int at = bad.producer; at != no_op;) {
            int next = no_op;
            for (const Operand& one : op(at).operands) {
                if (one.level == Level::Finite || one.producer >= at) continue;
                if (one.producer == no_op && one.leaf != nullptr) origin = {Kind::Leaf, at, one.leaf};
                next = std::max(next, one.producer);
            }
            at = next;
        }
        if (bad.producer == no_op && bad.leaf != nullptr) origin = {Kind::Leaf, no_op, bad.leaf};
    }
    if (!origin.is_cause()) return std::nullopt;
    return report(origin);
}

std::optional<BirthReport> BirthStory::hidden_overflow() {
    look_on();
    for (const SeenOp& seen : m_watch.ops) {
        if (!seen.reading.is_birth || seen.level != Level::Inf) continue;
        if (seen.reading.phase != "forward" && seen.reading.phase != "loss") continue;
        BirthReport found = of_op(static_cast<int>(seen.reading.index));
        if (found.code == "activation_overflow" || found.code == "loss_in_half") return found;
    }
    return std::nullopt;
}

BirthReport BirthStory::report(const Origin& origin) const {
    BirthReport told = origin.kind == Kind::Birth ? of_op(origin.op) : of_leaf(origin);
    tell_after(origin, told);
    return told;
}

BirthReport BirthStory::of_leaf(const Origin& origin) const {
    BirthReport told;
    if (origin.leaf != nullptr) {
        told.tensor = origin.leaf->reading.name;
        told.producer.phase = origin.leaf->phase;
        told.producer.result = origin.leaf->reading;
        told.sample = origin.leaf->sample;
    } else {
        const bool is_scale = origin.op != no_op && op(origin.op).reading.phase == "unscale";
        told.producer.phase = is_scale ? "unscale" : "data";
        if (is_scale) told.tensor = "loss scale";
        if (origin.op != no_op) {
            for (const TensorReading& operand : op(origin.op).reading.operands) {
                if (level_of(operand) > level_of(told.producer.result)) told.producer.result = operand;
            }
        }
    }
    told.code = leaf_code(told.producer.phase, told.tensor);
    return told;
}

BirthReport BirthStory::of_op(int index) const {
    const SeenOp& seen = op(index);
    BirthReport told;
    told.producer = seen.reading;
    told.sample = seen.sample;
    Level before = Level::Finite;
    for (const Operand& one : seen.operands) before = std::max(before, one.level);
    told.code = birth_code({seen.reading, seen.inner ? &*seen.inner : nullptr,
                            seen.forward == no_op ? nullptr : &op(seen.forward).reading, before, seen.level, m_watch.loss_scale});
    tell_before(index, told);
    return told;
}

void BirthStory::tell_before(int index, BirthReport& report) const {
    std::set<int> chosen;
    std::set<int> known;
    std::priority_queue<int> ahead;  // the nearest first
    const auto ask_operands = [&](int of) {
        for (const Operand& one : op(of).operands) {
            if (one.producer != no_op && one.producer < of && known.insert(one.producer).second) ahead.push(one.producer);
        }
    };
    for (ask_operands(index); !ahead.empty() && chosen.size() < ancestors_told;) {
        const int next = ahead.top();
        ahead.pop();
        if (!op(next).only_shows) chosen.insert(next);
        ask_operands(next);
    }
    for (int last = index - 1; last >= 0 && chosen.size() < before_told; --last) {
        if (!op(last).only_shows) chosen.insert(last);
    }
    for (const int one : chosen) report.before.push_back(op(one).reading);
}

void BirthStory::tell_after(const Origin& origin, BirthReport& report) const {
    std::vector<bool> carries(m_watch.ops.size(), false);
    const int producer = origin.kind == Kind::Birth ? origin.op : no_op;
    if (producer != no_op) carries[static_cast<std::size_t>(producer)] = true;
    for (const SeenOp& seen : m_watch.ops) {
        const int index = static_cast<int>(seen.reading.index);
        if (index <= producer || seen.level == Level::Finite) continue;
        const bool carried = std::any_of(seen.operands.begin(), seen.operands.end(), [&](const Operand& one) {
            if (one.level == Level::Finite || one.producer >= index) return false;
            if (one.producer != no_op) return static_cast<bool>(carries[static_cast<std::size_t>(one.producer)]);
            return origin.kind == Kind::Leaf && one.leaf == origin.leaf;
        });
        const bool meets_unnamed = origin.kind == Kind::Unnamed && index == origin.op;
        if (!carried && !meets_unnamed) continue;
        carries[static_cast<std::size_t>(index)] = true;
        report.carried += seen.only_shows ? 0 : seen.nonfinite_results;
        if (!seen.only_shows && report.after.size() < after_told) report.after.push_back(seen.reading);
    }
}

}  // namespace mantissa
