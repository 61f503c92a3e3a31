#pragma once
// Lets the runs of a job make so many steps a second, for a class that watches: the command "step" of a shell, again and again.
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "launch/control_client.h"
#include "progress.h"

namespace mantissa::cli {

class Pacer {
  public:
    /// `pace` 0: off.
    Pacer(std::filesystem::path job_folder, double pace) : m_folder(std::move(job_folder)), m_pace(pace) {}
    [[nodiscard]] bool is_on() const { return m_pace > 0; }
    [[nodiscard]] int wait_ms() const;
    void tick(const std::vector<RunProgress>& runs);

  private:
    void send();
    std::filesystem::path m_folder;
    double m_pace;
    std::optional<ControlClient> m_client;
    std::optional<std::chrono::steady_clock::time_point> m_start;
    std::int64_t m_sent = 0;
};

}  // namespace mantissa::cli
