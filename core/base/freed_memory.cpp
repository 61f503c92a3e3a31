#include "base/freed_memory.h"

#include <malloc.h>

namespace mantissa {

void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that is taken
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace mantissa
