#include "launch/run_watch.h"

namespace mantissa {

void RunWatch::look() {
    if (!m_reader) {
        auto reader = RunReader::open(m_folder.path);
        if (!reader) return;
        m_reader = std::move(*reader);
    }
    const auto rows = m_reader->read_new();
    if (!rows) return;
    if (!rows->steps.empty()) steps = rows->steps.back().step + 1;
    if (!rows->states.empty()) {
        state = to_string(rows->states.back().state);
        reason = rows->states.back().reason;
    }
}

}  // namespace mantissa
