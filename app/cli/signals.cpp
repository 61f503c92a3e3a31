#include "signals.h"

#include <csignal>

namespace mantissa::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;
volatile std::sig_atomic_t terminations = 0;

void count(int signal) {
    if (signal == SIGINT)
        interrupts = interrupts + 1;
    else
        terminations = terminations + 1;
}

}  // namespace

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = count;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void catch_hangup() {
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = count;
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, nullptr);
}

HangupCaught::HangupCaught() {
    sigaction(SIGHUP, nullptr, &m_before);
    catch_hangup();
}

HangupCaught::~HangupCaught() { sigaction(SIGHUP, &m_before, nullptr); }

SignalCounts signal_counts() {
    return {interrupts, terminations};
}

}  // namespace mantissa::cli
