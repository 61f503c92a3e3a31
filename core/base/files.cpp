#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mantissa {
namespace fs = std::filesystem;
namespace {

class Descriptor {
  public:
    explicit Descriptor(int value) : m_value(value) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (m_value >= 0) ::close(m_value);
    }
    [[nodiscard]] int get() const { return m_value; }
    bool close() { return ::close(std::exchange(m_value, -1)) == 0; }

  private:
    int m_value;
};

Error failed(const fs::path& path, const char* action) {
    return {ErrorCode::InputOutput, path.string() + " can't be " + action + ": " + std::strerror(errno), {}};
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::uint64_t limit_bytes) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return failed(path, "read");
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed(path, "read");
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return failed(path, "read");
    }
    std::string content;
    content.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), limit_bytes)));
    char buffer[65536];
    for (;;) {
        const ssize_t size = ::read(file.get(), buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return failed(path, "read");
        if (size == 0) return content;
        content.append(buffer, static_cast<std::size_t>(size));
        if (content.size() > limit_bytes)
            return Error{ErrorCode::InputOutput,
                         path.string() + " is larger than the " + std::to_string(limit_bytes) + " bytes allowed here", {}};
    }
}

Result<void> write_file_atomically(const fs::path& path, std::string_view content) {
    return write_file_atomically(path, std::vector{content});
}

Result<void> write_file_atomically(const fs::path& path, const std::vector<std::string_view>& parts) {
    std::string name = path.string() + ".XXXXXX";
    Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
    if (file.get() < 0) return failed(path, "written");
    const auto give_up = [&](const char* action) {
        const int reason = errno;
        ::unlink(name.c_str());
        errno = reason;
        return failed(path, action);
    };
    for (std::string_view content : parts) {
        while (!content.empty()) {
            const ssize_t written = ::write(file.get(), content.data(), content.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return give_up("written");
            content.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file.get(), 0666 & ~mask) != 0 || ::fsync(file.get()) != 0 || !file.close()) return give_up("written");
    if (::rename(name.c_str(), path.c_str()) != 0) return give_up("replaced");
    return {};
}

Result<void> sync_folder(const fs::path& folder) {
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) return failed(folder, "synced");
    return {};
}

Result<void> make_folders(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Error{ErrorCode::InputOutput, folder.string() + " can't be made: " + error.message(), {}};
    return {};
}

}  // namespace mantissa
