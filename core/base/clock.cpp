#include "base/clock.h"

#include <array>
#include <chrono>
#include <ctime>

namespace mantissa {
namespace {

std::string formatted(std::int64_t time_ns, const char* pattern) {
    const std::time_t seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
    std::tm local{};
    localtime_r(&seconds, &local);
    std::array<char, 64> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), pattern, &local);
    return {text.data(), size};
}

}  // namespace

std::int64_t now_ns() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t monotonic_ns() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string file_time_stamp(std::int64_t time_ns) { return formatted(time_ns, "%Y%m%d-%H%M%S"); }
std::string readable_time(std::int64_t time_ns) { return formatted(time_ns, "%Y-%m-%d %H:%M:%S"); }

}  // namespace mantissa
