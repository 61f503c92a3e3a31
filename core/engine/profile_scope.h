#pragma once
// A trace of every operation, in the form of Chrome's trace viewer (chrome://tracing, Perfetto): name, thread, start, duration, and
// the dtypes and shapes of the tensors that went in and came out. One at a time in a process, and it costs about 2 µs an operation: for a few steps.
#include <cstdint>
#include <filesystem>
#include <memory>

namespace mantissa {

struct ProfileOptions {
    bool with_shapes = true;  // dtypes and shapes of operands and results
    std::int64_t max_events = 1'000'000;  // later operations are counted and left out; the trace says how many
};

/// From its making to finish() or its end. The file appears when it is whole.
class ProfileScope {
  public:
    ProfileScope(std::filesystem::path file, const ProfileOptions& options = {});
    ~ProfileScope();  // finishes; a file that can't be written is a line in the log
    ProfileScope(const ProfileScope&) = delete;
    ProfileScope& operator=(const ProfileScope&) = delete;

    /// Writes the file and throws EngineError when it can't; nothing the second time.
    void finish();
    [[nodiscard]] std::int64_t events() const;

  private:
    struct State;
    std::filesystem::path m_file;
    std::unique_ptr<State> m_state;
};

}  // namespace mantissa
