#pragma once
#include <string>

#include "base/numbers.h"
#include "engine/engine_error.h"

namespace mantissa {

/// Throws EngineError (BadPlan) with scheduler, field and value unless `holds`; `allowed` says what may stand there.
inline void require(bool holds, const char* scheduler, const char* field, double value, const char* allowed) {
    if (!holds) {
        throw EngineError({ErrorCode::BadPlan, std::string(scheduler) + ": " + field + " is " + to_text(value), allowed});
    }
}

}  // namespace mantissa
