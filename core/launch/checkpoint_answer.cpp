#include "launch/checkpoint_answer.h"

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/numbers.h"
#include "record/meta_keys.h"
#include "record/run_reader.h"

namespace mantissa {

namespace fs = std::filesystem;

CheckpointAnswer last_checkpoint_answer(const fs::path& run_folder) {
    CheckpointAnswer answer;
    const auto reader = RunReader::open(run_folder);
    if (!reader) return answer;
    const auto values = (*reader)->meta();
    if (!values) return answer;
    const auto text = [&values](const char* key) {
        const auto found = values->find(key);
        return found == values->end() ? std::string() : found->second;
    };
    answer.time_ns = parse_int(text(meta::checkpoint_ns)).value_or(0);
    answer.folder = text(meta::checkpoint);
    answer.error = text(meta::checkpoint_error);
    return answer;
}

Result<fs::path> wait_for_checkpoint(const fs::path& run_folder, const CheckpointAnswer& before, int milliseconds) {
    const std::int64_t end = monotonic_ns() + std::int64_t{milliseconds} * 1'000'000;
    while (true) {
        // The state first: what a run that has ended recorded is whole.
        const auto reader = RunReader::open(run_folder);
        const auto state = reader ? (*reader)->state() : Result<StateRow>(reader.error());
        const CheckpointAnswer answer = last_checkpoint_answer(run_folder);
        if (answer.time_ns > before.time_ns && answer.error.empty()) return fs::path(answer.folder);
        if (answer.time_ns > before.time_ns)
            return Error{ErrorCode::InputOutput, "the checkpoint could not be saved: " + answer.error,
                         "the run goes on; make room and ask again"};
        if (state && is_end_state(state->state))
            return Error{ErrorCode::Usage,
                         std::string("the run ended (") + to_string(state->state) + ") before the checkpoint was saved", ""};
        if (monotonic_ns() > end)
            return Error{ErrorCode::WorkerLost, "no checkpoint came within " + std::to_string(milliseconds / 1000) + " seconds",
                         "it will be saved at the run's next step edge; `mantissa runs checkpoints RUN` lists them"};
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace mantissa
