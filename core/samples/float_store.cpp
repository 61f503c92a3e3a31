#include "samples/float_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr std::uint64_t smallest = 1u << 20;
constexpr std::uint64_t room_left = 256u << 20;  // of the disk, for the recording and for others

std::uint64_t half_of_memory() {
    return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

Error no_room(std::uint64_t bytes, const std::string& why) {
    return {ErrorCode::InputOutput, "the samples take " + readable_bytes(bytes) + ": " + why, "use fewer samples, or set TMPDIR to a folder with room"};
}

}  // namespace

FloatStore::FloatStore(std::uint64_t bytes_in_memory, std::filesystem::path folder)
    : m_limit(bytes_in_memory != 0 ? bytes_in_memory : half_of_memory()), m_folder(std::move(folder)) {}

FloatStore::FloatStore(FloatStore&& other) noexcept
    : m_limit(other.m_limit),
      m_folder(std::move(other.m_folder)),
      m_data(std::exchange(other.m_data, nullptr)),
      m_size(std::exchange(other.m_size, 0)),
      m_bytes(std::exchange(other.m_bytes, 0)),
      m_file(std::exchange(other.m_file, -1)) {}

FloatStore& FloatStore::operator=(FloatStore&& other) noexcept {
    if (this == &other) return *this;
    release();
    m_limit = other.m_limit;
    m_folder = std::move(other.m_folder);
    m_data = std::exchange(other.m_data, nullptr);
    m_size = std::exchange(other.m_size, 0);
    m_bytes = std::exchange(other.m_bytes, 0);
    m_file = std::exchange(other.m_file, -1);
    return *this;
}

FloatStore::~FloatStore() { release(); }

void FloatStore::release() {
    if (m_data != nullptr) ::munmap(m_data, m_bytes);
    if (m_file >= 0) ::close(m_file);
    m_data = nullptr;
    m_file = -1;
}

Result<void> FloatStore::move_to_disk(std::uint64_t bytes) {
    std::error_code failed;
    const std::filesystem::path folder = m_folder.empty() ? std::filesystem::temp_directory_path(failed) : m_folder;
    const auto space = std::filesystem::space(folder, failed);
    if (failed) return no_room(bytes, "more than half of the memory, and " + folder.string() + " can't be used: " + failed.message());
    if (space.available < bytes + room_left) return no_room(bytes, "more than half of the memory, and " + folder.string() + " has only " + readable_bytes(space.available) + " left");
    if (m_file < 0) {
        std::string name = (folder / "mantissa-samples-XXXXXX").string();
        m_file = ::mkostemp(name.data(), O_CLOEXEC);
        if (m_file < 0) return no_room(bytes, "a file in " + folder.string() + " can't be made: " + std::strerror(errno));
        ::unlink(name.c_str());  // gone with the process, whatever ends it
    }
    // Blocks are taken now: a page that finds the disk full later would end the process with SIGBUS.
    if (const int code = ::posix_fallocate(m_file, 0, static_cast<off_t>(bytes)); code != 0)
        return no_room(bytes, "a file in " + folder.string() + " can't grow: " + std::strerror(code));
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_file, 0);
    if (mapped == MAP_FAILED) return no_room(bytes, std::string("it can't be mapped: ") + std::strerror(errno));
    if (m_data != nullptr) {
        if (m_size > 0 && mapped != m_data) std::memcpy(mapped, m_data, m_size * sizeof(float));
        ::munmap(m_data, m_bytes);
    }
    m_data = static_cast<float*>(mapped);
    m_bytes = bytes;
    return {};
}

Result<void> FloatStore::reserve(std::uint64_t count) {
    const std::uint64_t bytes = std::max(count * sizeof(float), smallest);
    if (bytes <= m_bytes) return {};
    if (bytes > m_limit || m_file >= 0) return move_to_disk(bytes);
    void* mapped = m_data == nullptr ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                     : ::mremap(m_data, m_bytes, bytes, MREMAP_MAYMOVE);
    if (mapped == MAP_FAILED) return no_room(bytes, std::strerror(errno));
    m_data = static_cast<float*>(mapped);
    m_bytes = bytes;
    return {};
}

Result<void> FloatStore::append(std::span<const float> values) {
    if ((m_size + values.size()) * sizeof(float) > m_bytes) {
        const std::uint64_t doubled = std::max<std::uint64_t>(m_size + values.size(), m_size * 2);
        if (auto done = reserve(doubled); !done) return done;
    }
    std::copy(values.begin(), values.end(), m_data + m_size);
    m_size += values.size();
    return {};
}

}  // namespace mantissa
