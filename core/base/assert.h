#pragma once
// A broken invariant stops the program with its place. NDEBUG is set in every build (it is part of LibTorch's ABI),
// so the standard assert would be silent.

namespace mantissa {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

#define MANTISSA_ASSERT(expression) \
    (static_cast<bool>(expression) ? void(0) : ::mantissa::assertion_failed(#expression, __FILE__, __LINE__))
