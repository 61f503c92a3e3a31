#pragma once
// Where a run stands, from its recording: for the status that a control socket tells. One thread. Internal to core/launch.
#include <cstdint>
#include <memory>
#include <string>

#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {

class RunWatch {
  public:
    explicit RunWatch(RunFolder folder) : m_folder(std::move(folder)) {}
    /// Reads what is new; a run.db that isn't there yet is tried again.
    void look();
    std::int64_t steps = 0;
    std::string state = "queued", reason;

  private:
    RunFolder m_folder;
    std::unique_ptr<RunReader> m_reader;
};

}  // namespace mantissa
