#pragma once
#include <cstdint>

#include "data/dataset.h"

namespace mantissa {

/// Two random classes as the articles' programs draw them: randn(samples, features), then randint(0, 2,
/// samples), from one generator with that seed.
[[nodiscard]] Dataset random_classes(const char* name, std::uint64_t seed, std::int64_t samples,
                                     std::int64_t features);

}  // namespace mantissa
