#pragma once
// Autocast for one block, restored on every way out (also when an exception passes). Autocast state is thread-local: make and
// destroy the scope in one thread.
#include <optional>

#include "base/precision.h"
#include "engine/fp32_islands.h"
#include "engine/fp8_layers.h"
#include "torch_pch.h"

namespace mantissa {

/// float16 or bfloat16 of a mode; float32 for `no`.
[[nodiscard]] at::ScalarType autocast_dtype(Precision precision);

/// Override for one block of Accelerator::autocast().
struct AutocastOptions {
    bool enabled = true;                             // false: an fp32 island
    std::optional<bool> cache_enabled = {};          // unset: as around it
    std::optional<at::ScalarType> dtype = {};        // unset: the mode's. kFloat is an island; another half dtype is refused
};

class [[nodiscard]] AutocastScope {
  public:
    /// Leaves everything as it is.
    AutocastScope() = default;
    /// `enabled` false is an fp32 island. `cache` keeps casts of weights until the outermost scope ends. With `fp8` linear layers are
    /// fp8 inside.
    AutocastScope(at::DeviceType device, at::ScalarType dtype, bool enabled = true, bool cache = true,
                  const Fp32Islands* islands = nullptr, const Fp8Layers* fp8 = nullptr);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

    /// Nothing is autocast inside. Inputs keep their dtype: the island's owner casts them.
    static AutocastScope fp32_island(at::DeviceType device) { return {device, at::kFloat, false}; }
    /// The block of mode `no`: nothing is cast, but what is refused inside autocast is refused here too, so that a program which
    /// runs in one mode runs in all.
    static AutocastScope without_cast(const Fp32Islands* islands = nullptr) { return {true, islands}; }
    /// A forward in mode `no`: a half that the model makes by itself is cast in its islands too.
    static AutocastScope only_islands(const Fp32Islands* islands) { return {false, islands}; }

  private:
    AutocastScope(bool is_block, const Fp32Islands* islands);

    at::DeviceType m_device = at::kCPU;
    at::ScalarType m_previous_dtype = at::kBFloat16;
    bool m_previous_enabled = false;
    bool m_previous_cache = true;
    bool m_is_active = false;
    bool m_is_block = false;
    std::optional<IslandScope> m_islands;
    std::optional<Fp8Scope> m_fp8;
};

/// True where operations of this device are cast.
[[nodiscard]] bool is_inside_autocast(at::DeviceType device);
/// True anywhere inside an autocast block of this thread, also in an fp32 island in it and in mode `no`.
[[nodiscard]] bool is_inside_autocast_block(at::DeviceType device);

}  // namespace mantissa
