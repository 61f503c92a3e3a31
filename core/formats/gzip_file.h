#pragma once
// Bytes of a file, plain or gzip (told apart by content, not by name). Internal to core/formats.
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mantissa::formats {

class GzipFile {
  public:
    static Result<GzipFile> open(const std::filesystem::path& path);
    GzipFile(GzipFile&& other) noexcept;
    GzipFile& operator=(GzipFile&&) = delete;
    ~GzipFile();

    /// Up to `size` bytes, fewer only at the end. The error's message is the reason alone ("the compressed data ends too early"), for
    /// the caller knows the place.
    Result<std::size_t> read(void* to, std::size_t size);

  private:
    explicit GzipFile(gzFile file) : m_file(file) {}
    gzFile m_file = nullptr;
};

}  // namespace mantissa::formats
