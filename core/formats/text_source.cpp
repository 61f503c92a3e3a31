#include "formats/text_source.h"

#include <algorithm>
#include <utility>

namespace mantissa::formats {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

}  // namespace

TextSource::TextSource(GzipFile file, std::filesystem::path path, TextLimits limits)
    : m_file(std::move(file)), m_path(std::move(path)), m_limits(limits), m_buffer(chunk_bytes) {}

Result<TextSource> TextSource::open(const std::filesystem::path& path, TextLimits limits) {
    auto file = GzipFile::open(path);
    if (!file) return file.error();
    return TextSource(std::move(*file), path, limits);
}

Result<bool> TextSource::fill() {
    const auto size = m_file.read(m_buffer.data(), m_buffer.size());
    if (!size) {
        return Error{ErrorCode::InputOutput, m_path.string() + " is damaged after line " + std::to_string(m_line) + ": " + size.error().message,
                     size.error().hint};
    }
    m_at = 0;
    m_end = *size;
    m_total += m_end;
    if (m_total > m_limits.total_bytes) {
        return Error{ErrorCode::InputOutput,
                     m_path.string() + " holds more than the " + std::to_string(m_limits.total_bytes) +
                         " bytes allowed here",
                     ""};
    }
    return *size > 0;
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
