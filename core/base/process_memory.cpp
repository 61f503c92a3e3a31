#include "base/process_memory.h"

#include <unistd.h>

#include <cstdio>

namespace mantissa {

std::int64_t resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    long total = 0, resident = 0;
    const int found = std::fscanf(file, "%ld %ld", &total, &resident);
    std::fclose(file);
    return found == 2 ? std::int64_t{resident} * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace mantissa
