#pragma once
// The entries of `fp32_islands` as values: which match an op at a place, and which were ever matched. No LibTorch here. Threads:
// any after construction.
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

/// "mul" of "aten::mul_" and of "aten::mul".
[[nodiscard]] std::string plain_op_name(std::string_view schema_name);

class IslandEntries {
  public:
    explicit IslandEntries(const std::vector<std::string>& entries);

    enum class Match { None, Path, Op };
    /// Of an outermost op at a module path; notes the entries that matched.
    [[nodiscard]] Match match(const std::string& path, const std::string& op);
    /// False: no entry can match this op anywhere, whatever the path.
    [[nodiscard]] bool may_match(const std::string& op) const;

    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    [[nodiscard]] const std::string& text(std::size_t index) const { return m_entries[index].text; }
    /// Empty for a path.
    [[nodiscard]] const std::string& aten_op(std::size_t index) const { return m_entries[index].aten_op; }

  private:
    friend class IslandLog;
    struct Entry {
        std::string text;
        std::string aten_op;   // of aten::op
        std::string parent;    // of path.op, read so; empty when there is no dot
        std::string last;      // of path.op, read so
        std::atomic<bool> matched{false};
    };
    std::deque<Entry> m_entries;
    bool m_has_paths = false;
};

/// What ran in the first step, for the sentence about an entry that matched nothing.
class IslandLog {
  public:
    void outermost(const std::string& path, const std::string& op);
    void inner(const std::string& op, const std::string& outermost_op);
    [[nodiscard]] std::optional<Error> unmatched(const IslandEntries& entries) const;

  private:
    [[nodiscard]] Error sentence(const IslandEntries::Entry& entry, std::size_t index) const;

    mutable std::mutex m_mutex;  // protects all below
    std::map<std::string, std::set<std::string>> m_ops_of_path;
    std::map<std::string, std::set<std::string>> m_outermost_of_inner;
};

}  // namespace mantissa
