#pragma once
// Exceptions of LibTorch's CUDA part become Errors before they leave the plugin.
#include <exception>
#include <string>

#include "base/result.h"

namespace mantissa::cuda {

template <typename Call>
auto guarded(const char* what, const Call& call) -> decltype(call()) {
    try {
        return call();
    } catch (const std::exception& exception) {
        const std::string text = exception.what();
        return Error{ErrorCode::Internal, std::string(what) + " failed: " + text.substr(0, text.find('\n')),
                     "the log of the run has the whole text"};
    }
}

}  // namespace mantissa::cuda
