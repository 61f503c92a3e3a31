#include "engine_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>

#include "launch/engine_module.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

std::string answer_text(const std::function<Result<std::string>(const EngineApi&)>& question) {
    const auto refuse = [](const Error& error) {
        return Json{{"code", static_cast<int>(error.code)}, {"message", error.message}, {"hint", error.hint}};
    };
    Json answer;
    try {
        const auto engine = load_engine();
        if (!engine) {
            answer = refuse(engine.error());
        } else {
            const auto text = question(**engine);
            answer = text ? Json{{"text", *text}} : refuse(text.error());
        }
    } catch (const std::exception& error) {
        answer = refuse({ErrorCode::Internal, std::string("the engine failed: ") + error.what(), ""});
    }
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void child(int output, const std::function<Result<std::string>(const EngineApi&)>& question) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    // Standard output is the parent's result; what a library prints there must not get into it.
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const std::string text = answer_text(question);
    std::size_t sent = 0;
    while (sent < text.size()) {
        const ssize_t count = ::write(output, text.data() + sent, text.size() - sent);
        if (count < 0 && errno != EINTR) ::_exit(1);
        if (count > 0) sent += static_cast<std::size_t>(count);
    }
    ::_exit(0);
}

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> bytes{};
    while (true) {
        const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return text;
        text.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace

Result<std::string> ask_engine(const std::function<Result<std::string>(const EngineApi&)>& question) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe(ends.data()) != 0)
        return Error{ErrorCode::Internal, std::string("no pipe: ") + std::strerror(errno), ""};
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid < 0)
        return Error{ErrorCode::Internal, std::string("no process for the engine: ") + std::strerror(errno),
                     ""};
    if (pid == 0) {
        ::close(ends[0]);
        child(ends[1], question);
    }
    ::close(ends[1]);
    const std::string text = read_all(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM))
        return Error{ErrorCode::Interrupted, "interrupted before the start", ""};
    const Json answer = Json::parse(text, nullptr, false);
    if (WIFSIGNALED(status) || !answer.is_object())
        return Error{ErrorCode::WorkerLost,
                     WIFSIGNALED(status) ? std::string("the engine crashed: ") + ::strsignal(WTERMSIG(status))
                                         : "the engine gave no answer",
                     "`packaging/setup` checks LibTorch"};
    if (answer.contains("text")) return answer["text"].get<std::string>();
    return Error{static_cast<ErrorCode>(answer["code"].get<int>()), answer["message"], answer["hint"]};
}

}  // namespace mantissa::cli
