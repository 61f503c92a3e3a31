#include "config_questions.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "machine.h"
#include "plan/accelerate_words.h"
#include "record/reports.h"

namespace mantissa::cli {
namespace {

using Parse = std::function<std::optional<std::string>(const std::string& answer)>;

Result<std::string> ask(const std::string& question, const std::string& present, const std::string& allowed, const Parse& parse) {
    for (;;) {
        std::fprintf(stderr, "%s [%s] (%s): ", question.c_str(), allowed.c_str(), present.c_str());
        std::string answer;
        if (!std::getline(std::cin, answer)) {
            std::fputc('\n', stderr);
            return Error{ErrorCode::Usage, "the answers ended before the last question; nothing was written",
                         "`mantissa config default` writes a file without questions"};
        }
        const auto begin = answer.find_first_not_of(" \t\r");
        if (begin == std::string::npos) return present;
        answer = answer.substr(begin, answer.find_last_not_of(" \t\r") - begin + 1);
        if (auto value = parse(answer)) return *value;
        std::fprintf(stderr, "\"%s\" is not one of them\n", answer.substr(0, 60).c_str());
    }
}

std::string present_value(const PlanLayer& layer, const std::string& path, const std::string& otherwise) {
    for (const LayerValue& value : layer.values) {
        if (value.path != path) continue;
        const auto parsed = nlohmann::json::parse(value.value_json, nullptr, false);
        return parsed.is_string() ? parsed.get<std::string>() : value.value_json;
    }
    return otherwise;
}

/// What this machine says about the modes; nothing when the engine can't be asked.
void say_support() {
    const auto report = probe_machine();
    if (!report) return;
    for (const DeviceReport& device : report->devices) {
        std::string line = device.id + " (" + device.name + "):";
        for (const ModeSupport& mode : device.modes) line += std::string(" ") + to_string(mode.mode) + " " + to_string(mode.support) + ",";
        line.pop_back();
        std::fprintf(stderr, "%s\n", line.c_str());
    }
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ask_for_configuration(const PlanLayer& present) {
    say_support();
    const auto mode = ask("Which precision should training take?", present_value(present, "mixed_precision", "no"), "no/fp16/bf16/fp8",
                          [](const std::string& answer) -> std::optional<std::string> {
                              const auto parsed = parse_precision(answer);
                              return parsed ? std::optional<std::string>(to_string(*parsed)) : std::nullopt;
                          });
    if (!mode) return mode.error();
    const auto cpu = ask("Train on the CPU, also where there is a GPU?", present_value(present, "device", "auto") == "cpu" ? "yes" : "no",
                         "yes/no", [](const std::string& answer) -> std::optional<std::string> {
                             const auto is_on = parse_accelerate_switch(answer);
                             if (!is_on) return std::nullopt;
                             return *is_on ? "yes" : "no";
                         });
    if (!cpu) return cpu.error();
    return std::vector<std::pair<std::string, std::string>>{{"mixed_precision", *mode}, {"use_cpu", *cpu == "yes" ? "true" : "false"}};
}

}  // namespace mantissa::cli
