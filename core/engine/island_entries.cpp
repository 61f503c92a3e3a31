#include "engine/island_entries.h"

#include <algorithm>

#include "engine/engine_error.h"
#include "plan/nearest.h"

namespace mantissa {
namespace {

bool is_below(const std::string& path, const std::string& island) {
    return path.starts_with(island) && (path.size() == island.size() || path[island.size()] == '.');
}

std::vector<std::string> some_of(const std::set<std::string>& names) {
    constexpr std::size_t limit = 12;
    std::vector<std::string> some(names.begin(), names.end());
    if (some.size() > limit) {
        some.resize(limit);
        some.emplace_back("…");
    }
    return some;
}

std::string offer(const std::string& written, const std::set<std::string>& names, const std::string& what) {
    const auto nearest = nearest_names(written, {names.begin(), names.end()});
    if (!nearest.empty()) {
        return "did you mean " + join_names(nearest) + "?";
    }
    return names.empty() ? "" : what + join_names(some_of(names));
}

}  // namespace

std::string plain_op_name(std::string_view name) {
    const auto colon = name.rfind("::");
    if (colon != std::string_view::npos) {
        name.remove_prefix(colon + 2);
    }
    if (name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_') {
        name.remove_suffix(1);
    }
    return std::string(name);
}

IslandEntries::IslandEntries(const std::vector<std::string>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string& text = entries[i];
        Entry& entry = m_entries.emplace_back();
        entry.text = text;
        if (text.starts_with("aten::")) {
            entry.aten_op = plain_op_name(text);
        } else if (const auto dot = text.rfind('.'); dot != std::string::npos) {
            entry.parent = text.substr(0, dot);
            entry.last = plain_op_name(text.substr(dot + 1));
        }
        const bool is_whole = text.find_first_of(" \t\n") == std::string::npos && !text.empty() && text.back() != '.' &&
                              text.front() != '.' && text.back() != ':';
        if (!is_whole) {
            throw EngineError({ErrorCode::BadPlan,
                               "fp32_islands[" + std::to_string(i) + "] is \"" + text + "\", which names nothing",
                               "use a module path (gate), a path and an op (gate.mul), or aten::op (aten::softmax)"});
        }
        m_has_paths |= entry.aten_op.empty();
    }
}

bool IslandEntries::may_match(const std::string& op) const {
    return m_has_paths || std::any_of(m_entries.begin(), m_entries.end(),
                                      [&op](const Entry& entry) { return entry.aten_op == op; });
}

IslandEntries::Match IslandEntries::match(const std::string& path, const std::string& op) {
    Match found = Match::None;
    for (Entry& entry : m_entries) {
        const bool by_op = entry.aten_op.empty() ? !entry.parent.empty() && entry.last == op && entry.parent == path
                                                 : entry.aten_op == op;
        const bool by_path = entry.aten_op.empty() && is_below(path, entry.text);
        if (!by_op && !by_path) {
            continue;
        }
        entry.matched.store(true, std::memory_order_relaxed);
        found = by_op || found == Match::Op ? Match::Op : Match::Path;
    }
    return found;
}

void IslandLog::outermost(const std::string& path, const std::string& op) {
    const std::lock_guard lock(m_mutex);
    m_ops_of_path[path].insert(op);
}

void IslandLog::inner(const std::string& op, const std::string& outermost_op) {
    const std::lock_guard lock(m_mutex);
    m_outermost_of_inner[op].insert(outermost_op);
}

std::optional<Error> IslandLog::unmatched(const IslandEntries& entries) const {
    const std::lock_guard lock(m_mutex);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!entries.m_entries[i].matched) {
            return sentence(entries.m_entries[i], i);
        }
    }
    return std::nullopt;
}

Error IslandLog::sentence(const IslandEntries::Entry& entry, std::size_t index) const {
    const std::string subject = "fp32_islands[" + std::to_string(index) + "] is \"" + entry.text + "\", but ";
    std::set<std::string> ops, places;
    for (const auto& [path, of_path] : m_ops_of_path) {
        for (const std::string& op : of_path) {
            ops.insert("aten::" + op);
            if (!path.empty()) places.insert(path + "." + op);
        }
        if (!path.empty()) places.insert(path);
    }
    const std::string op = entry.aten_op.empty() ? entry.last : entry.aten_op;
    const auto here = m_ops_of_path.find(entry.parent);
    const bool is_op_of_known_path = entry.aten_op.empty() && !entry.parent.empty() && here != m_ops_of_path.end();
    if (const auto inner = m_outermost_of_inner.find(op);
        inner != m_outermost_of_inner.end() && (is_op_of_known_path || !entry.aten_op.empty())) {
        std::set<std::string> outer;
        for (const std::string& name : inner->second) {
            if (!entry.aten_op.empty())
                outer.insert("aten::" + name);
            else if (here->second.contains(name))  // elsewhere it may be run by others
                outer.insert(entry.parent + "." + name);
        }
        if (!outer.empty())
            return {ErrorCode::BadPlan, subject + op + " only ran inside other operations in the first step",
                    "name the operation that runs it: " + join_names(some_of(outer))};
    }
    if (!entry.aten_op.empty()) {
        return {ErrorCode::BadPlan, subject + "no " + op + " ran in the first step", "these ran: " + join_names(some_of(ops))};
    }
    if (is_op_of_known_path) {
        return {ErrorCode::BadPlan, subject + entry.parent + " ran no " + op + " in the first step",
                "it ran " + join_names(some_of(here->second))};
    }
    if (places.empty()) {
        return {ErrorCode::BadPlan, subject + "no module of this model tells its path",
                "hold a ModuleScope in the module's forward, or name an operation everywhere: aten::" +
                    (op.empty() ? "mul" : op)};
    }
    return {ErrorCode::BadPlan, subject + "no module of that path ran in the first step",
            offer(entry.text, places, "these ran: ")};
}

}  // namespace mantissa
