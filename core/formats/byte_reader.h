#pragma once
// Bytes in their order, from a file (plain or gzip) or from a member of a zip archive, for readers of binary formats.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa {

class ByteReader {
  public:
    virtual ~ByteReader() = default;
    /// Up to `size` bytes; fewer only at the end. Damage is an error that names file and byte.
    Result<std::size_t> read(void* to, std::size_t size);
    /// Exactly `size` bytes; fewer are an error: "FILE ends at byte 20, in the middle of <what>".
    Result<void> read_whole(void* to, std::size_t size, const char* what);
    /// InputOutput with the file's name in front.
    [[nodiscard]] Error error(const std::string& what, const std::string& hint = "") const;

    [[nodiscard]] const std::string& name() const { return m_name; }       // for sentences: "data.npz, x.npy"
    [[nodiscard]] std::uint64_t position() const { return m_position; }  // bytes given so far, decompressed

  protected:
    explicit ByteReader(std::string name) : m_name(std::move(name)) {}

  private:
    virtual Result<std::size_t> take(void* to, std::size_t size) = 0;  // the error's message is the reason alone
    std::string m_name;
    std::uint64_t m_position = 0;
};

Result<std::unique_ptr<ByteReader>> open_bytes(const std::filesystem::path& path);

/// The first bytes of a file, decompressed: at most `size`.
Result<std::string> first_bytes(const std::filesystem::path& path, std::size_t size);

}  // namespace mantissa
