#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace mantissa {

void assertion_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    std::fflush(stderr);
    std::abort();
}

int exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::BadPlan:
        case ErrorCode::Usage:
        case ErrorCode::NotBuilt: return 2;
        case ErrorCode::UnsupportedPrecision:
        case ErrorCode::UnsupportedDevice: return 3;
        case ErrorCode::NonFinite: return 4;
        case ErrorCode::WorkerLost: return 5;
        case ErrorCode::InputOutput: return 6;
        case ErrorCode::NoDisplay: return 69;
        case ErrorCode::Interrupted: return 130;
        case ErrorCode::Internal: return 1;
    }
    return 1;
}

const char* to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::BadPlan: return "bad_plan";
        case ErrorCode::Usage: return "usage";
        case ErrorCode::UnsupportedPrecision: return "unsupported_precision";
        case ErrorCode::UnsupportedDevice: return "unsupported_device";
        case ErrorCode::NotBuilt: return "not_built";
        case ErrorCode::NonFinite: return "non_finite";
        case ErrorCode::WorkerLost: return "worker_lost";
        case ErrorCode::InputOutput: return "input_output";
        case ErrorCode::NoDisplay: return "no_display";
        case ErrorCode::Interrupted: return "interrupted";
        case ErrorCode::Internal: return "internal";
    }
    return "internal";
}

std::string describe(const Error& error) {
    return error.hint.empty() ? error.message : error.message + " — " + error.hint;
}

}  // namespace mantissa
