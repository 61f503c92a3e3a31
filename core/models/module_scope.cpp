#include "models/module_scope.h"

namespace mantissa {
namespace {

thread_local OutputWatch* t_watch = nullptr;

}  // namespace

WatchScope::WatchScope(OutputWatch& watch) : m_previous(t_watch) {
    t_watch = &watch;
}
WatchScope::~WatchScope() {
    t_watch = m_previous;
}
OutputWatch* current_watch() {
    return t_watch;
}

}  // namespace mantissa
