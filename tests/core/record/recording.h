#pragma once
// Small recordings for tests, and helpers that look at them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "record/run_folder.h"
#include "record/run_reader.h"
#include "record/run_recorder.h"
#include "tests/support/temporary_folder.h"

namespace mantissa::testing {

inline StepRow step_row(std::int64_t step, double loss = 1.0) {
    StepRow row;
    row.step = step;
    row.applied_step = step + 1;
    row.time_ns = 1'000'000'000 + step;
    row.loss = loss;
    row.learning_rate = 1e-3;
    row.grad_norm = 0.5;
    row.samples = 32;
    row.step_ns = 1'000'000;
    return row;
}

inline std::unique_ptr<RunRecorder> recorder_in(const std::filesystem::path& folder) {
    auto recorder = RunRecorder::open(folder);
    if (!recorder) {
        ADD_FAILURE() << describe(recorder.error());
        return nullptr;
    }
    return std::move(recorder).value();
}

inline std::unique_ptr<RunReader> reader_of(const std::filesystem::path& folder) {
    auto reader = RunReader::open(folder);
    if (!reader) {
        ADD_FAILURE() << describe(reader.error());
        return nullptr;
    }
    return std::move(reader).value();
}

/// Runs `body` in a child process and returns its exit status (128 + signal when it was killed).
inline int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 99;
        try {
            status = body();
        } catch (...) {
        }
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace mantissa::testing
