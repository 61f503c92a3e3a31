#pragma once
// Lines of a text file, plain or gzip (told apart by content, not by name), with bounded memory. Internal to
// core/formats.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/gzip_file.h"

namespace mantissa::formats {

struct TextLimits {
    std::uint64_t line_bytes = 1ull << 20;
    std::uint64_t total_bytes = 1ull << 30;  // after decompression
};

class TextSource {
  public:
    static Result<TextSource> open(const std::filesystem::path& path, TextLimits limits);

    /// The next line without its end (LF or CRLF), or nothing at the end of the file.
    Result<std::optional<std::string>> next_line();
    [[nodiscard]] std::int64_t line_number() const { return m_line; }  // of the last line given, from 1

  private:
    TextSource(GzipFile file, std::filesystem::path path, TextLimits limits);
    Result<bool> fill();  // false at the end

    GzipFile m_file;
    std::filesystem::path m_path;
    TextLimits m_limits;
    std::vector<char> m_buffer;
    std::size_t m_at = 0, m_end = 0;
    std::uint64_t m_total = 0;
    std::int64_t m_line = 0;
};

}  // namespace mantissa::formats
