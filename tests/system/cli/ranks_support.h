#pragma once
// What the tests of runs with several processes have in common: starting them, looking into their records, finding their workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <stdexcept>

#include "base/files.h"
#include "program.h"
#include "tests/support/processes.h"

namespace mantissa::system_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::chrono::seconds patience{120};

inline std::vector<std::string> two_ranks(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"train", "--cpu", "--json", "--num_processes", "2"});
    return arguments;
}

inline Json trained(const Home& home, const std::vector<std::string>& arguments) {
    const auto outcome = home.run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
}

inline Json steps_of(const Home& home, const Json& run) {
    return Json::parse(home.run({"export", run["run_dir"].get<std::string>(), "--format", "json"}).out);
}

/// Rows of a query, one text a row, columns with blanks between.
inline std::vector<std::string> query(const fs::path& file, const std::string& sql) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
    if (code != SQLITE_OK) throw std::runtime_error("can't open " + file.string());
    std::vector<std::string> rows;
    const auto add = [](void* to, int count, char** values, char**) {
        std::string row;
        for (int i = 0; i < count; ++i) row += std::string(i == 0 ? "" : " ") + (values[i] == nullptr ? "-" : values[i]);
        static_cast<std::vector<std::string>*>(to)->push_back(row);
        return 0;
    };
    if (sqlite3_exec(database.get(), sql.c_str(), add, &rows, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database.get()));
    return rows;
}

inline fs::path folder_of(const Json& run) { return run["run_dir"].get<std::string>(); }

/// The value of MANTISSA_RANK in a process's environment.
inline std::string rank_of(pid_t pid) {
    const Result<std::string> read = read_file("/proc/" + std::to_string(pid) + "/environ");
    if (!read) return "";  // gone meanwhile
    const std::string& all = *read;
    const std::string name = "MANTISSA_RANK=";
    for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
        if (all.compare(at, name.size(), name) == 0) return all.substr(at + name.size(), all.find('\0', at) - at - name.size());
        if (all.find('\0', at) == std::string::npos) break;
    }
    return "";
}

inline std::vector<pid_t> workers(const Home& home) { return test::processes_with(std::string("worker") + '\0' + home.runs().string()); }

inline pid_t worker_of_rank(const Home& home, const std::string& rank) {
    for (const pid_t pid : workers(home)) {
        if (rank_of(pid) == rank) return pid;
    }
    return -1;
}

inline const std::vector<std::string> endless = two_ranks({"digits-cnn", "--max-steps", "500000"});

}  // namespace mantissa::system_test
