// What a run, a comparison or a replay left in its folder, and lessons; the first byte chooses the reader.
#include "lessons/lesson.h"
#include "lessons/lesson_session.h"
#include "record/checkpoint_info.h"
#include "record/comparison_record.h"
#include "record/replay_report.h"
#include "record/replica.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    if (size == 0) return 0;
    const std::string_view text = fuzz::text_of(data + 1, size - 1);
    const auto put = [text](const char* name) { static_cast<void>(fuzz::file_with(name, text)); };
    switch (data[0] % 6) {
        case 0:
            put("comparison.json");
            static_cast<void>(read_comparison(fuzz::folder()));
            static_cast<void>(read_replica_runs(fuzz::folder()));
            break;
        case 1:
            put("incident.json");
            static_cast<void>(read_incident(fuzz::folder()));
            break;
        case 2:
            put("replay.json");
            static_cast<void>(read_replay(fuzz::folder()));
            break;
        case 3:
            put("replica.json");
            static_cast<void>(read_replica(fuzz::folder()));
            break;
        case 4:
            put("state.json");
            static_cast<void>(read_checkpoint_info(fuzz::folder()));
            break;
        default: static_cast<void>(read_lesson_text(text, "lesson")); break;
    }
    return 0;
}
