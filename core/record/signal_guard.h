#pragma once
// SIGXFSZ (file size limit) would kill the process in the middle of a write. While this guard lives, the
// calling thread gets EFBIG instead. Internal to core/record.
#include <pthread.h>

#include <csignal>
#include <ctime>

namespace mantissa::db {

class FileSizeSignalGuard {
  public:
    FileSizeSignalGuard() {
        sigemptyset(&m_signal);
        sigaddset(&m_signal, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &m_signal, &m_before);
    }
    ~FileSizeSignalGuard() {
        if (sigismember(&m_before, SIGXFSZ) == 1) return;
        const timespec no_wait{};
        while (sigtimedwait(&m_signal, nullptr, &no_wait) == SIGXFSZ) {
        }
        pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    FileSizeSignalGuard(const FileSizeSignalGuard&) = delete;
    FileSizeSignalGuard& operator=(const FileSizeSignalGuard&) = delete;

  private:
    sigset_t m_signal{};
    sigset_t m_before{};
};

/// For a thread of ours that computes nothing: signals for the program go to other threads, faults still stop
/// it.
inline void block_program_signals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
        sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace mantissa::db
