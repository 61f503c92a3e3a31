#pragma once

namespace mantissa {

/// For a process that trains. Tensors of a step come and go with it; left alone, the C library gives their memory back to the system and
/// gets it again, page by page and zeroed, in the next step: a tenth of a step's time, more beside another rank.
void keep_freed_memory();

}  // namespace mantissa
