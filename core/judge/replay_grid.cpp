#include "judge/replay_grid.h"

#include <algorithm>

namespace mantissa {

const VariantReport* ReplayGrid::done(std::string_view id) const {
    const auto found = std::find_if(m_report.variants.begin(), m_report.variants.end(), [&](const VariantReport& one) {
        return one.id == id && one.state == "done" && one.this_step_finite;
    });
    return found == m_report.variants.end() ? nullptr : &*found;
}

bool ReplayGrid::finite(std::string_view id) const {
    const VariantReport* one = done(id);
    return one != nullptr && *one->this_step_finite;
}

bool ReplayGrid::bad(std::string_view id) const {
    const VariantReport* one = done(id);
    return one != nullptr && !*one->this_step_finite;
}

bool ReplayGrid::holds(std::string_view id) const {
    const VariantReport* one = done(id);
    return one != nullptr && one->holds();
}

bool ReplayGrid::is_bad_as_was() const { return bad("as_was") || (m_report.birth && done("as_was") == nullptr); }

bool ReplayGrid::control_bad() const { return m_report.mode == Precision::No ? is_bad_as_was() : bad("no"); }

bool ReplayGrid::control_finite() const { return m_report.mode != Precision::No && finite("no"); }

bool ReplayGrid::control_bad_there() const {
    if (m_report.mode == Precision::No) return is_bad_as_was();
    const VariantReport* one = done("no");
    return one != nullptr && !*one->this_step_finite && one->same_place;
}

std::string ReplayGrid::first_that_holds(std::initializer_list<std::string_view> ids) const {
    const auto found = std::find_if(ids.begin(), ids.end(), [&](std::string_view id) { return holds(id); });
    return found == ids.end() ? std::string() : std::string(*found);
}

std::string ReplayGrid::finite_modes() const {
    std::string list;
    if (control_finite()) list = "`no`";
    if (m_report.mode != Precision::Bf16 && finite("bf16")) list += list.empty() ? "bf16" : ", bf16";
    return list;
}

}  // namespace mantissa
