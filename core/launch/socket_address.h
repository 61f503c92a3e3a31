#pragma once
// Internal to core/launch.
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>

#include "base/assert.h"

namespace mantissa {

[[nodiscard]] inline sockaddr_un socket_address(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    MANTISSA_ASSERT(path.string().size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.string().size());
    return address;
}

}  // namespace mantissa
