#pragma once
// Places that compute in fp32 inside autocast (design §10): `path` (a module and all below it), `path.op`, `aten::op`; an op is its
// aten name without namespace, overload and trailing `_`. An op is the outermost one, as it was called: what it runs inside
// belongs to it. On a match its half operands (also in lists) become fp32 in the graph, so gradients flow, and it runs outside of
// autocast; half result types asked for become fp32. Ops that only look at their operand's memory (views) stay as they are. An op
// that writes into half memory in place can't be made one, and says so.
//
// How: a fallback for a dispatch key that nothing else uses, included in the thread's keys only while an IslandScope lives. It goes
// with the work into TorchScript's forked threads. Without islands nothing is registered and nothing is slower.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa {

struct DispatchScope;

class Fp32Islands {
  public:
    /// BadPlan for an entry that can't name anything: empty, or an `aten::op` that torch doesn't have or that computes nothing.
    explicit Fp32Islands(std::vector<std::string> entries);
    ~Fp32Islands();
    Fp32Islands(const Fp32Islands&) = delete;
    Fp32Islands& operator=(const Fp32Islands&) = delete;

    /// After the first step: BadPlan for an entry that nothing in it matched, with the names that there were. Later calls do nothing.
    void refuse_unmatched();

  private:
    friend class IslandScope;
    struct State;
    std::shared_ptr<State> m_state;
};

/// What an island refused in this thread since the last call, for callers that only get TorchScript's own exception.
[[nodiscard]] std::optional<Error> take_island_refusal();

/// The islands hold in this thread until the end of the scope.
class [[nodiscard]] IslandScope {
  public:
    explicit IslandScope(const Fp32Islands& islands);
    ~IslandScope();
    IslandScope(const IslandScope&) = delete;
    IslandScope& operator=(const IslandScope&) = delete;

  private:
    std::unique_ptr<DispatchScope> m_scope;
};

}  // namespace mantissa
