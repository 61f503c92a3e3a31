#pragma once
// Autocast for one block, restored on every way out (also when an exception passes). Autocast state is thread-local: make and
// destroy the scope in one thread.
#include "base/precision.h"
#include "torch_pch.h"

namespace mantissa {

/// float16 or bfloat16 of a mode; float32 for `no`.
[[nodiscard]] at::ScalarType autocast_dtype(Precision precision);

class [[nodiscard]] AutocastScope {
  public:
    /// Leaves everything as it is (mode `no`).
    AutocastScope() = default;
    /// `enabled` false is an fp32 island. `cache` keeps casts of weights until the outermost scope ends.
    AutocastScope(at::DeviceType device, at::ScalarType dtype, bool enabled = true, bool cache = true);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

    /// Nothing is autocast inside. Inputs keep their dtype: the island's owner casts them.
    static AutocastScope fp32_island(at::DeviceType device) { return {device, at::kFloat, false}; }

  private:
    at::DeviceType m_device = at::kCPU;
    at::ScalarType m_previous_dtype = at::kBFloat16;
    bool m_previous_enabled = false;
    bool m_previous_cache = true;
    bool m_is_active = false;
};

/// True inside an enabled autocast block of this device.
[[nodiscard]] bool is_inside_autocast(at::DeviceType device);

}  // namespace mantissa
