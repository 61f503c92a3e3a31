#pragma once
// How long matrix products and convolutions run, without the casts that autocast puts before them: what half precision can shorten. Armed
// for a few steps of a trial only, so that other steps pay nothing. Right for a CPU, where an op is done when its call returns.
// Threads: one timer at a time in a process; callbacks may come from autograd's threads.
#include <atomic>
#include <cstdint>

namespace mantissa {

class ProductTimer {
  public:
    ProductTimer();  // armed until it is destroyed
    ~ProductTimer();
    ProductTimer(const ProductTimer&) = delete;
    ProductTimer& operator=(const ProductTimer&) = delete;

    void begin_step() { m_ns = 0; }
    [[nodiscard]] std::int64_t ns() const { return m_ns; }  // since begin_step

  private:
    friend struct ProductTimerCallbacks;
    std::atomic<std::int64_t> m_ns{0};
    std::uint64_t m_handle = 0;  // of RecordFunction
};

}  // namespace mantissa
