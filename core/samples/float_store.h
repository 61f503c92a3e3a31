#pragma once
// A growing array of floats that may be larger than memory: beyond a limit its bytes lie in a file without a name, which the kernel
// pages in and out, instead of in memory alone.
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace mantissa {

class FloatStore {
  public:
    /// `bytes_in_memory`: 0 = half of the machine's memory. The file is made in `folder` (empty: the folder for temporary files).
    FloatStore() : FloatStore(0) {}
    explicit FloatStore(std::uint64_t bytes_in_memory, std::filesystem::path folder = {});
    FloatStore(FloatStore&& other) noexcept;
    FloatStore& operator=(FloatStore&& other) noexcept;
    ~FloatStore();

    /// Room for `count` floats in all. InputOutput: neither memory nor the disk has it.
    Result<void> reserve(std::uint64_t count);
    Result<void> append(std::span<const float> values);

    [[nodiscard]] float* data() { return m_data; }
    [[nodiscard]] const float* data() const { return m_data; }
    [[nodiscard]] std::uint64_t size() const { return m_size; }
    [[nodiscard]] bool is_on_disk() const { return m_file >= 0; }

  private:
    Result<void> move_to_disk(std::uint64_t bytes);
    void release();

    std::uint64_t m_limit;
    std::filesystem::path m_folder;
    float* m_data = nullptr;
    std::uint64_t m_size = 0, m_bytes = 0;  // m_bytes: mapped
    int m_file = -1;
};

}  // namespace mantissa
