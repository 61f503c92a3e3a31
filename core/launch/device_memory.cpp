#include "launch/device_memory.h"

#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/numbers.h"

namespace mantissa {

namespace {

std::int64_t number_in_file(const char* file) {
    auto text = read_file(file, 4096);
    if (!text) return 0;
    while (!text->empty() && (text->back() == '\n' || text->back() == ' ')) text->pop_back();
    return parse_int(*text).value_or(0);  // "max" is no limit
}

}  // namespace

std::int64_t machine_memory_bytes() {
    std::int64_t bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
    for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        if (const std::int64_t limit = number_in_file(file); limit > 0) bytes = std::min(bytes, limit);
    }
    return std::max<std::int64_t>(bytes, 0);
}

std::string reason_for_one_by_one(std::int64_t needed_bytes, std::int64_t device_bytes) {
    constexpr double largest_share = 0.8;
    if (device_bytes <= 0 ||
        static_cast<double>(needed_bytes) <= largest_share * static_cast<double>(device_bytes))
        return {};
    return "all modes together need " + readable_bytes(static_cast<std::uint64_t>(needed_bytes)) +
           ", more than 80 % of the device's " + readable_bytes(static_cast<std::uint64_t>(device_bytes));
}

}  // namespace mantissa
