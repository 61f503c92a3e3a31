#include "engine/module_scope.h"

#include <exception>

namespace mantissa {
namespace {

const std::string outside;
thread_local const std::string* t_path = &outside;
thread_local std::string t_failed;

}  // namespace

ModuleScope::ModuleScope(const std::string& path)
    : m_previous(t_path), m_exceptions(std::uncaught_exceptions()) {
    t_path = &path;
}

ModuleScope::~ModuleScope() {
    // The innermost scope unwinds first, so it is the one that is kept.
    if (std::uncaught_exceptions() > m_exceptions && t_failed.empty()) t_failed = *t_path;
    t_path = m_previous;
}

const std::string& ModuleScope::current() { return *t_path; }
std::string ModuleScope::module_of_last_failure() { return t_failed; }
void ModuleScope::forget_last_failure() { t_failed.clear(); }

}  // namespace mantissa
