#pragma once
// Processes that are threads: a ProcessGroup in memory, for what the engine does with ranks. A rank that fails or lags makes the
// others throw after a while instead of waiting for ever.
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/process_group.h"

namespace mantissa::test {

class MeetingPoint {
  public:
    explicit MeetingPoint(std::int64_t size) : m_slots(static_cast<std::size_t>(size)) {}

    /// Each rank brings a tensor and leaves with all of them.
    std::vector<torch::Tensor> meet(std::int64_t rank, const torch::Tensor& brought) {
        std::unique_lock lock(m_mutex);
        wait(lock, [&] { return !m_is_leaving; });
        m_slots[static_cast<std::size_t>(rank)] = brought.defined() ? brought.detach().clone() : torch::Tensor();
        if (++m_here == m_slots.size()) {
            m_is_leaving = true;
            m_changed.notify_all();
        }
        wait(lock, [&] { return m_is_leaving; });
        std::vector<torch::Tensor> all = m_slots;
        if (--m_here == 0) {
            m_is_leaving = false;
            m_changed.notify_all();
        }
        return all;
    }
    void fail() {
        const std::lock_guard lock(m_mutex);
        m_has_failed = true;
        m_changed.notify_all();
    }

  private:
    template <typename Condition>
    void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
        const bool came = m_changed.wait_for(lock, std::chrono::seconds(30), [&] { return m_has_failed || condition(); });
        if (m_has_failed || !came) throw std::runtime_error("the other processes didn't come to this collective call");
    }

    std::mutex m_mutex;  // protects all below
    std::condition_variable m_changed;
    std::vector<torch::Tensor> m_slots;
    std::size_t m_here = 0;
    bool m_is_leaving = false, m_has_failed = false;
};

class ThreadGroup : public ProcessGroup {
  public:
    ThreadGroup(std::shared_ptr<MeetingPoint> point, std::int64_t rank, std::int64_t size)
        : m_point(std::move(point)), m_rank(rank), m_size(size) {}
    [[nodiscard]] std::int64_t rank() const override { return m_rank; }
    [[nodiscard]] std::int64_t size() const override { return m_size; }
    [[nodiscard]] std::vector<torch::Tensor> all_gather(const torch::Tensor& tensor) override {
        auto all = m_point->meet(m_rank, tensor);
        for (const auto& one : all) {
            if (one.sizes() != tensor.sizes() || one.scalar_type() != tensor.scalar_type()) {
                throw std::runtime_error("all_gather of different shapes or dtypes");
            }
        }
        return all;
    }
    void all_reduce(torch::Tensor& tensor, ReduceOperation operation) override {
        const torch::Tensor stacked = torch::stack(all_gather(tensor));
        tensor.copy_(operation == ReduceOperation::Max ? stacked.amax(0) : stacked.sum(0));
    }
    void broadcast(torch::Tensor& tensor, std::int64_t from_rank) override {
        tensor.copy_(all_gather(tensor)[static_cast<std::size_t>(from_rank)]);
    }
    void barrier() override { static_cast<void>(m_point->meet(m_rank, {})); }

  private:
    std::shared_ptr<MeetingPoint> m_point;
    std::int64_t m_rank, m_size;
};

/// Runs `program(group)` once per rank, each in a thread, and throws the first failure.
inline void run_processes(std::int64_t size, const std::function<void(std::shared_ptr<ProcessGroup>)>& program) {
    const auto point = std::make_shared<MeetingPoint>(size);
    std::mutex mutex;
    std::exception_ptr failure;  // protected by mutex
    std::vector<std::jthread> threads;
    for (std::int64_t rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                program(std::make_shared<ThreadGroup>(point, rank, size));
            } catch (...) {
                {
                    const std::lock_guard lock(mutex);
                    if (!failure) failure = std::current_exception();
                }
                point->fail();
            }
        });
    }
    threads.clear();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace mantissa::test
