#include "devices/cpu_facts.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/numbers.h"

namespace mantissa {
namespace {

std::string slurp(const char* path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string value_after_colon(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return "";
    line.remove_prefix(colon + 1);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front()))) line.remove_prefix(1);
    return std::string(line);
}

bool has_word(const std::string& words, const std::string& word) {
    return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

// Kernels stay below AVX512 when one of these says so.
std::string limit_in_environment() {
    for (const char* name : {"ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        std::string lower(value);
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        if (lower == "default" && std::string(name) == "ONEDNN_MAX_CPU_ISA") continue;
        if (lower == "all" || lower == "amx" || lower.rfind("avx512", 0) == 0 || lower.rfind("avx10", 0) == 0)
            continue;
        return std::string(name) + "=" + value;
    }
    return "";
}

}  // namespace

DeviceFacts parse_cpu_facts(std::string_view cpuinfo, std::string_view meminfo, std::string held_back_by) {
    DeviceFacts cpu;
    std::istringstream lines{std::string(cpuinfo)};
    std::string line, model, flags;
    while (std::getline(lines, line)) {
        if (line.rfind("processor", 0) == 0) ++cpu.cores;
        if (model.empty() && line.rfind("model name", 0) == 0) model = value_after_colon(line);
        if (flags.empty() && line.rfind("flags", 0) == 0) flags = value_after_colon(line);
    }
    if (model.empty()) model = "CPU";
    cpu.name = model + ", " + std::to_string(cpu.cores) + (cpu.cores == 1 ? " core" : " cores");
    cpu.has_avx2 = has_word(flags, "avx2");
    cpu.has_avx512 = has_word(flags, "avx512f") && has_word(flags, "avx512bw") && has_word(flags, "avx512vl");
    cpu.has_avx512_fp16 = has_word(flags, "avx512_fp16");
    cpu.has_avx512_bf16 = has_word(flags, "avx512_bf16");
    cpu.has_amx_fp16 = has_word(flags, "amx_fp16");
    cpu.has_amx_bf16 = has_word(flags, "amx_bf16");
    cpu.held_back_by = std::move(held_back_by);
    std::istringstream memory{std::string(meminfo)};
    while (std::getline(memory, line)) {
        if (line.rfind("MemTotal", 0) != 0) continue;
        const std::string value = value_after_colon(line);
        cpu.memory_bytes = parse_int(value.substr(0, value.find(' '))).value_or(0) * 1024;
    }
    return cpu;
}

DeviceFacts read_cpu_facts() {
    return parse_cpu_facts(slurp("/proc/cpuinfo"), slurp("/proc/meminfo"), limit_in_environment());
}

}  // namespace mantissa
