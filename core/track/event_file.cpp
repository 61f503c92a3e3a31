#include "track/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/files.h"

namespace mantissa {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78U : 0U);
        table[byte] = value;
    }
    return table;
}();

template <typename Number>
std::string little_endian(Number number) {
    std::string bytes(sizeof(number), '\0');
    for (std::size_t i = 0; i < sizeof(number); ++i) bytes[i] = static_cast<char>((number >> (8 * i)) & 0xFF);
    return bytes;
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

Error write_error(const std::filesystem::path& path, int reason) {
    return {ErrorCode::InputOutput, path.string() + " can't be written: " + std::generic_category().message(reason),
            "choose another place"};
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    std::uint32_t value = 0xFFFFFFFFU;
    for (const char byte : bytes) value = (value >> 8) ^ crc_table[(value ^ static_cast<unsigned char>(byte)) & 0xFF];
    return ~value;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

std::string tf_record(std::string_view bytes) {
    const std::string length = little_endian(static_cast<std::uint64_t>(bytes.size()));
    std::string record = length + little_endian(masked_crc32c(length));
    record += bytes;
    return record + little_endian(masked_crc32c(bytes));
}

Result<EventFile> EventFile::create(const std::filesystem::path& folder, double wall_time) {
    if (auto made = make_folders(folder); !made) return made.error();
    static std::atomic<int> count{0};
    std::string seconds = std::to_string(static_cast<std::int64_t>(wall_time));
    if (seconds.size() < 10) seconds.insert(0, 10 - seconds.size(), '0');
    const std::filesystem::path path = folder / ("events.out.tfevents." + seconds + "." + host_name() + "." +
                                                 std::to_string(getpid()) + "." + std::to_string(count++));
    errno = 0;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    if (!out) return write_error(path, errno);
    out << tf_record(event::file_version(wall_time));
    EventFile file(path, std::move(out));
    if (auto flushed = file.flush(); !flushed) return flushed.error();
    return file;
}

void EventFile::add(double wall_time, std::int64_t step, const std::string& summary) {
    m_out << tf_record(event::with_summary(wall_time, step, summary));
}

Result<void> EventFile::flush() {
    errno = 0;
    m_out.flush();
    if (!m_out) return write_error(m_path, errno);
    return {};
}

}  // namespace mantissa
