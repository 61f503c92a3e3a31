#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

namespace mantissa::log {
namespace {

struct Sinks {
    std::shared_ptr<spdlog::sinks::stderr_sink_mt> standard_error = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("mantissa", standard_error);
    std::mutex mutex;  // protects the logger's list of sinks
    Sinks() {
        standard_error->set_pattern("%v");
        logger->set_level(spdlog::level::info);
        logger->flush_on(spdlog::level::trace);
    }
};

Sinks& sinks() {
    static Sinks instance;
    return instance;
}

spdlog::level::level_enum level_of(Level level) {
    switch (level) {
        case Level::Debug: return spdlog::level::debug;
        case Level::Info: return spdlog::level::info;
        case Level::Warning: return spdlog::level::warn;
        case Level::Error: return spdlog::level::err;
        case Level::Off: return spdlog::level::off;
    }
    return spdlog::level::info;
}

void write(spdlog::level::level_enum level, std::string_view text) {
    Sinks& all = sinks();
    const std::lock_guard lock(all.mutex);
    all.logger->log(level, spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace

void set_level(Level level) { sinks().logger->set_level(level_of(level)); }

Result<void> also_to_file(const std::filesystem::path& file) {
    Sinks& all = sinks();
    try {
        auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
        sink->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
        const std::lock_guard lock(all.mutex);
        all.logger->sinks().push_back(std::move(sink));
    } catch (const spdlog::spdlog_ex& failure) {
        return Error{ErrorCode::InputOutput, "the log file " + file.string() + " can't be written: " + failure.what(), {}};
    }
    return {};
}

void mute_standard_error(bool muted) {
    sinks().standard_error->set_level(muted ? spdlog::level::off : spdlog::level::trace);
}

void debug(std::string_view text) { write(spdlog::level::debug, text); }
void info(std::string_view text) { write(spdlog::level::info, text); }
void warning(std::string_view text) { write(spdlog::level::warn, text); }
void error(std::string_view text) { write(spdlog::level::err, text); }

}  // namespace mantissa::log
