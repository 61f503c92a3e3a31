#pragma once
// The lock of a run folder as an open descriptor that can be handed to a child process. It is the same flock
// that RunLock takes; flock belongs to the open file description, so it lives as long as any process has the
// descriptor.
#include <filesystem>

#include "base/result.h"
#include "record/run_folder.h"

namespace mantissa {

class RunClaim {
  public:
    static Result<RunClaim> take(const RunFolder& folder);
    /// Takes over a descriptor that a parent handed down; an error if it isn't this folder's lock.
    static Result<RunClaim> adopt(const RunFolder& folder, int descriptor);
    RunClaim(RunClaim&& other) noexcept;
    RunClaim& operator=(RunClaim&& other) noexcept;
    RunClaim(const RunClaim&) = delete;
    RunClaim& operator=(const RunClaim&) = delete;
    ~RunClaim();
    [[nodiscard]] int descriptor() const { return m_descriptor; }
    void release();

  private:
    explicit RunClaim(int descriptor) : m_descriptor(descriptor) {}
    int m_descriptor = -1;
};

}  // namespace mantissa
