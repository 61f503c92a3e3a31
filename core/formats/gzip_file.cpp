#include "formats/gzip_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace mantissa::formats {

GzipFile::GzipFile(GzipFile&& other) noexcept : m_file(std::exchange(other.m_file, nullptr)) {}

GzipFile::~GzipFile() {
    if (m_file) gzclose(m_file);
}

Result<GzipFile> GzipFile::open(const std::filesystem::path& path) {
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
    return GzipFile(file);
}

Result<std::size_t> GzipFile::read(void* to, std::size_t size) {
    constexpr std::size_t most = 1u << 30;  // gzread counts in unsigned
    auto* at = static_cast<char*>(to);
    std::size_t done = 0;
    while (done < size) {
        const int got = gzread(m_file, at + done, static_cast<unsigned>(std::min(size - done, most)));
        int code = Z_OK;
        const char* why = gzerror(m_file, &code);
        if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
            // Z_BUF_ERROR: the compressed stream stops before its end mark.
            return Error{ErrorCode::InputOutput, code == Z_BUF_ERROR ? "the compressed data ends too early" : std::string(why), "fetch the file again"};
        }
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

}  // namespace mantissa::formats
