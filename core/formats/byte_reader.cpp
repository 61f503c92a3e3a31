#include "formats/byte_reader.h"

#include <utility>

#include "formats/gzip_file.h"

namespace mantissa {
namespace {

class FileBytes : public ByteReader {
  public:
    FileBytes(std::string name, formats::GzipFile file) : ByteReader(std::move(name)), m_file(std::move(file)) {}

  private:
    Result<std::size_t> take(void* to, std::size_t size) override { return m_file.read(to, size); }
    formats::GzipFile m_file;
};

}  // namespace

Result<std::size_t> ByteReader::read(void* to, std::size_t size) {
    auto got = take(to, size);
    if (!got) return error("is damaged after byte " + std::to_string(m_position) + ": " + got.error().message, got.error().hint);
    m_position += *got;
    return got;
}

Result<void> ByteReader::read_whole(void* to, std::size_t size, const char* what) {
    const auto got = read(to, size);
    if (!got) return got.error();
    if (*got == size) return {};
    return error("ends at byte " + std::to_string(m_position) + ", in the middle of " + what, "the file was cut: fetch it again");
}

Error ByteReader::error(const std::string& what, const std::string& hint) const { return {ErrorCode::InputOutput, m_name + " " + what, hint}; }

Result<std::unique_ptr<ByteReader>> open_bytes(const std::filesystem::path& path) {
    auto file = formats::GzipFile::open(path);
    if (!file) return file.error();
    return std::unique_ptr<ByteReader>(std::make_unique<FileBytes>(path.string(), std::move(*file)));
}

Result<std::string> first_bytes(const std::filesystem::path& path, std::size_t size) {
    auto reader = open_bytes(path);
    if (!reader) return reader.error();
    std::string bytes(size, '\0');
    const auto got = (*reader)->read(bytes.data(), size);
    if (!got) return got.error();
    bytes.resize(*got);
    return bytes;
}

}  // namespace mantissa
