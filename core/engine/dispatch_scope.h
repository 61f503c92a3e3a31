#pragma once
// A dispatch key with a state, for this thread and for the tasks that LibTorch starts for it: what fp32 islands and fp8 layers are made of.
#include <memory>

#include "torch_pch.h"

namespace mantissa {

struct DispatchScope {
    DispatchScope(c10::DebugInfoKind kind, const std::shared_ptr<c10::DebugInfoBase>& state, c10::DispatchKey which) : info(kind, state), key(which) {}
    c10::DebugInfoGuard info;
    c10::impl::IncludeDispatchKeyGuard key;
};

}  // namespace mantissa
