#include "launch/run_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace mantissa {

namespace {
/// A reader that asks whether the lock is free holds it for some microseconds: that isn't another worker.
bool lock_with_patience(int descriptor) {
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    errno = EWOULDBLOCK;
    return false;
}

Error lock_error(const RunFolder& folder, int number) {
    if (number == EWOULDBLOCK) {
        return {ErrorCode::InputOutput, "another process works on the run " + folder.path.string(),
                "wait for its end, or start a new run"};
    }
    return {ErrorCode::InputOutput, "can't lock " + folder.lock().string() + ": " + std::strerror(number),
            ""};
}
}  // namespace

Result<RunClaim> RunClaim::take(const RunFolder& folder) {
    const int descriptor = ::open(folder.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return lock_error(folder, errno);
    RunClaim claim(descriptor);
    if (!lock_with_patience(descriptor)) return lock_error(folder, errno);
    return claim;
}

Result<RunClaim> RunClaim::adopt(const RunFolder& folder, int descriptor) {
    struct stat ours {
    }, theirs{};
    if (::fstat(descriptor, &theirs) != 0 || ::stat(folder.lock().c_str(), &ours) != 0 ||
        ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) {
        return Error{
            ErrorCode::Internal,
            "descriptor " + std::to_string(descriptor) + " is not the lock of " + folder.path.string(), ""};
    }
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    RunClaim claim(descriptor);
    // The parent's lock came with the descriptor, so this only fails if it was given away in between.
    if (!lock_with_patience(descriptor)) return lock_error(folder, errno);
    return claim;
}

RunClaim::RunClaim(RunClaim&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

RunClaim& RunClaim::operator=(RunClaim&& other) noexcept {
    if (this != &other) {
        release();
        m_descriptor = std::exchange(other.m_descriptor, -1);
    }
    return *this;
}

RunClaim::~RunClaim() {
    release();
}

void RunClaim::release() {
    // No LOCK_UN: that would unlock a child's inherited copy too.
    if (m_descriptor >= 0) ::close(m_descriptor);
    m_descriptor = -1;
}

}  // namespace mantissa
