#include "engine/autocast_scope.h"

namespace mantissa {
namespace {

thread_local int open_blocks = 0;  // enabled ones, and those of mode `no`

}  // namespace

at::ScalarType autocast_dtype(Precision precision) {
    switch (precision) {
        case Precision::No: return at::kFloat;
        case Precision::Fp16: return at::kHalf;
        case Precision::Bf16: return at::kBFloat16;
        case Precision::Fp8: return at::kBFloat16;  // what is no fp8 layer, and what such a layer gives
    }
    return at::kFloat;
}

AutocastScope::AutocastScope(at::DeviceType device, at::ScalarType dtype, bool enabled, bool cache,
                             const Fp32Islands* islands, const Fp8Layers* fp8)
    : m_device(device),
      m_previous_dtype(at::autocast::get_autocast_dtype(device)),
      m_previous_enabled(at::autocast::is_autocast_enabled(device)),
      m_previous_cache(at::autocast::is_autocast_cache_enabled()),
      m_is_active(true),
      m_is_block(enabled) {
    at::autocast::set_autocast_enabled(device, enabled);
    if (enabled) {
        at::autocast::set_autocast_dtype(device, dtype);
    }
    at::autocast::set_autocast_cache_enabled(cache);
    at::autocast::increment_nesting();
    open_blocks += m_is_block ? 1 : 0;
    if (islands != nullptr) {
        m_islands.emplace(*islands);
    }
    if (fp8 != nullptr && enabled) {
        m_fp8.emplace(*fp8);
    }
}

AutocastScope::AutocastScope(bool is_block, const Fp32Islands* islands) : m_is_block(is_block) {
    open_blocks += m_is_block ? 1 : 0;
    if (islands != nullptr) {
        m_islands.emplace(*islands);
    }
}

AutocastScope::~AutocastScope() {
    open_blocks -= m_is_block ? 1 : 0;
    if (!m_is_active) {
        return;
    }
    // The cast cache is keyed by the identity of a weight, not its version: what outlives an update is stale.
    if (at::autocast::decrement_nesting() == 0) {
        at::autocast::clear_cache();
    }
    at::autocast::set_autocast_enabled(m_device, m_previous_enabled);
    at::autocast::set_autocast_dtype(m_device, m_previous_dtype);
    at::autocast::set_autocast_cache_enabled(m_previous_cache);
}

bool is_inside_autocast(at::DeviceType device) { return at::autocast::is_autocast_enabled(device); }

bool is_inside_autocast_block(at::DeviceType device) { return open_blocks > 0 || is_inside_autocast(device); }

}  // namespace mantissa
