#include "formats/text_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace mantissa::formats {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

}  // namespace

TextSource::TextSource(gzFile file, std::filesystem::path path, TextLimits limits)
    : m_file(file), m_path(std::move(path)), m_limits(limits), m_buffer(chunk_bytes) {}

TextSource::TextSource(TextSource&& other) noexcept
    : m_file(std::exchange(other.m_file, nullptr)),
      m_path(std::move(other.m_path)),
      m_limits(other.m_limits),
      m_buffer(std::move(other.m_buffer)),
      m_at(other.m_at),
      m_end(other.m_end),
      m_total(other.m_total),
      m_line(other.m_line) {}

TextSource::~TextSource() {
    if (m_file) gzclose(m_file);
}

Result<TextSource> TextSource::open(const std::filesystem::path& path, TextLimits limits) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        return Error{ErrorCode::InputOutput, path.string() + " is not a file", ""};
    }
    errno = 0;
    const gzFile file = gzopen(path.c_str(), "rbe");
    if (!file) {
        const char* why = errno != 0 ? std::strerror(errno) : "no memory";
        return Error{ErrorCode::InputOutput, path.string() + " can't be read: " + why, ""};
    }
    return TextSource(file, path, limits);
}

Result<bool> TextSource::fill() {
    const int size = gzread(m_file, m_buffer.data(), static_cast<unsigned>(m_buffer.size()));
    int code = Z_OK;
    const char* why = gzerror(m_file, &code);
    if (size < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        // Z_BUF_ERROR: the compressed stream stops before its end mark.
        const std::string reason =
            code == Z_BUF_ERROR ? "the compressed data ends too early" : std::string(why);
        return Error{ErrorCode::InputOutput,
                     m_path.string() + " is damaged after line " + std::to_string(m_line) + ": " + reason,
                     "fetch the file again"};
    }
    m_at = 0;
    m_end = static_cast<std::size_t>(size);
    m_total += m_end;
    if (m_total > m_limits.total_bytes) {
        return Error{ErrorCode::InputOutput,
                     m_path.string() + " holds more than the " + std::to_string(m_limits.total_bytes) +
                         " bytes allowed here",
                     ""};
    }
    return size > 0;
}

Result<std::optional<std::string>> TextSource::next_line() {
    std::string line;
    bool any = false;
    for (;;) {
        if (m_at == m_end) {
            const auto more = fill();
            if (!more) return more.error();
            if (!*more) {
                if (!any) return std::optional<std::string>();
                break;
            }
        }
        any = true;
        const char* begin = m_buffer.data() + m_at;
        const char* end = m_buffer.data() + m_end;
        const char* newline = std::find(begin, end, '\n');
        line.append(begin, newline);
        if (line.size() > m_limits.line_bytes) {
            return Error{ErrorCode::InputOutput,
                         m_path.string() + " line " + std::to_string(m_line + 1) + " is longer than the " +
                             std::to_string(m_limits.line_bytes) + " bytes allowed: is this a text file?",
                         ""};
        }
        m_at += static_cast<std::size_t>(newline - begin) + (newline == end ? 0 : 1);
        if (newline != end) break;
    }
    ++m_line;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return std::optional<std::string>(std::move(line));
}

}  // namespace mantissa::formats
