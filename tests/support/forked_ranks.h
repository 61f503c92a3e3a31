#pragma once
// Real processes for tests of what several ranks do: each is a fork of the test, which must not have used torch before. What a rank
// returns comes back as text; one that throws, dies or hangs fails the test with its words.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/work_folder.h"
#include "distributed/gloo_group.h"

namespace mantissa::test {

struct RankEnd {
    std::string text;   // what the program returned, or what it threw
    int wait_status = 0;
    [[nodiscard]] bool is_good() const { return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0; }
};

using RankProgram = std::function<std::string(const RankPlace&)>;

inline std::vector<RankEnd> fork_ranks(std::int64_t size, RankPlace place, const RankProgram& program) {
    const WorkFolder folder = WorkFolder::make("ranks").value();
    place.size = size;
    if (place.host.empty()) place.store_file = (folder.path() / "store").string();
    struct Child {
        pid_t pid = -1;
        int output = -1;
    };
    std::vector<Child> children;
    for (std::int64_t rank = 0; rank < size; ++rank) {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::close(ends[0]);
            place.rank = place.local_rank = rank;
            std::string text;
            int code = 0;
            try {
                text = program(place);
            } catch (const std::exception& error) {
                text = error.what();
                code = 1;
            }
            const char* next = text.data();
            for (std::size_t left = text.size(); left > 0;) {
                const ssize_t written = ::write(ends[1], next, left);
                if (written <= 0) break;
                next += written;
                left -= static_cast<std::size_t>(written);
            }
            ::close(ends[1]);
            // Not exit(): what the test's process had begun is not this one's to end.
            ::_exit(code);
        }
        ::close(ends[1]);
        children.push_back({pid, ends[0]});
    }
    std::vector<RankEnd> results;
    for (const Child& child : children) {
        RankEnd end;
        std::array<char, 4096> bytes{};
        while (true) {
            const ssize_t count = ::read(child.output, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            end.text.append(bytes.data(), static_cast<std::size_t>(count));
        }
        ::close(child.output);
        while (::waitpid(child.pid, &end.wait_status, 0) < 0 && errno == EINTR) {}
        results.push_back(std::move(end));
    }
    return results;
}

/// The texts of ranks that all ended well; throws the first other one.
inline std::vector<std::string> run_ranks(std::int64_t size, const std::function<std::string(std::shared_ptr<ProcessGroup>)>& program,
                                          RankPlace place = {}) {
    place.timeout_ms = 30'000;
    const auto ends = fork_ranks(size, place, [&](const RankPlace& own) {
        at::set_num_threads(1);
        auto group = join_group(own);
        if (!group) throw std::runtime_error(describe(group.error()));
        return program(*group);
    });
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        if (!ends[rank].is_good()) throw std::runtime_error("rank " + std::to_string(rank) + ": " + ends[rank].text);
        texts.push_back(ends[rank].text);
    }
    return texts;
}

}  // namespace mantissa::test
