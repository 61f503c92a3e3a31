#pragma once
// TensorBoard's event files. Framing: TFRecord (length, masked CRC-32C of it, bytes, masked CRC-32C of them). The messages Event,
// Summary and hparams' plugin data are encoded here by hand, in the wire format of protocol buffers and with its canonical order of
// fields: libprotobuf is not linked, because libtorch_cpu carries a copy of its own under the same names.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "track/tracker.h"

namespace mantissa {

[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);
/// As TFRecord stores it: rotated and shifted, so that a checksum of data that holds checksums stays good.
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view bytes);
/// A record with its frame.
[[nodiscard]] std::string tf_record(std::string_view bytes);

namespace event {

/// What SummaryWriter.add_scalar writes: a single-precision simple_value.
[[nodiscard]] std::string scalar_summary(const std::string& tag, double value);
/// The same curve in double precision (a tensor for the scalars plugin): exact.
[[nodiscard]] std::string exact_scalar_summary(const std::string& tag, double value);
[[nodiscard]] std::string text_summary(const std::string& tag, const std::string& text);
/// The three summaries of hyper-parameters: experiment, session start, session end.
[[nodiscard]] std::string hparams_experiment(const TrackerConfig& config);
[[nodiscard]] std::string hparams_session_start(const TrackerConfig& config);
[[nodiscard]] std::string hparams_session_end();

[[nodiscard]] std::string with_summary(double wall_time, std::int64_t step, const std::string& summary);
[[nodiscard]] std::string file_version(double wall_time);

}  // namespace event

/// One file events.out.tfevents.<seconds>.<host>.<pid>.<n> in a folder.
class EventFile {
  public:
    static Result<EventFile> create(const std::filesystem::path& folder, double wall_time);
    /// An event that holds this summary.
    void add(double wall_time, std::int64_t step, const std::string& summary);
    /// Errors of all writes since the last flush appear here.
    Result<void> flush();
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  private:
    EventFile(std::filesystem::path path, std::ofstream out) : m_path(std::move(path)), m_out(std::move(out)) {}
    std::filesystem::path m_path;
    std::ofstream m_out;
};

}  // namespace mantissa
