#include "launch/engine_module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <system_error>

#include "base/paths.h"

namespace mantissa {

namespace {

constexpr const char* module_name = "libmantissa-engine.so";
constexpr const char* way_out =
    "build it with -DMANTISSA_WITH_TORCH=ON (packaging/setup fetches LibTorch 2.11), or name the file in "
    "MANTISSA_ENGINE";

Error module_error(const std::string& message, const std::string& hint = way_out) {
    return {ErrorCode::InputOutput, "the engine module can't be used: " + message, hint};
}

bool is_wanted_torch(const std::string& version) {
    const std::string wanted = wanted_torch;
    return version == wanted || version.rfind(wanted + ".", 0) == 0;
}

std::string loader_sentence() {
    const char* text = ::dlerror();
    return text != nullptr ? text : "unknown error of the dynamic loader";
}

Result<const EngineApi*> checked(const EngineApi* api, const std::filesystem::path& file) {
    if (api == nullptr || api->abi == nullptr || api->torch_version == nullptr) {
        return module_error(file.string() + " gave no table of functions");
    }
    if (std::string(api->abi) != engine_abi) {
        return module_error(
            file.string() + " speaks '" + api->abi + "', this program needs '" + engine_abi + "'",
            "program and module must come from one build: build both again");
    }
    if (!is_wanted_torch(api->torch_version)) {
        return module_error(
            file.string() + " runs LibTorch " + api->torch_version + ", this program needs " + wanted_torch,
            "use LibTorch 2.11 (packaging/setup), other versions give other numbers");
    }
    if (api->run == nullptr || api->choose_precision == nullptr || api->trial == nullptr ||
        api->probe == nullptr || api->environment == nullptr) {
        return module_error(file.string() + " lacks a function of '" + std::string(engine_abi) + "'");
    }
    return api;
}

}  // namespace

std::vector<std::filesystem::path> engine_candidates() {
    // A named module is the only candidate: falling back to another one would hide a mistake in the name.
    if (const char* named = std::getenv("MANTISSA_ENGINE"); named != nullptr && *named != '\0')
        return {named};
    std::vector<std::filesystem::path> files{program_folder() / ".." / "lib" / module_name,
                                             program_folder() / module_name};
#ifdef MANTISSA_INSTALL_LIBRARY_FOLDER
    // Below the prefix that the program lies in, wherever that was moved; then where it was meant to go.
    files.push_back(program_folder() / ".." / MANTISSA_INSTALL_LIBDIR / module_name);
    files.emplace_back(std::filesystem::path(MANTISSA_INSTALL_LIBRARY_FOLDER) / module_name);
#endif
    for (auto& file : files) file = file.lexically_normal();
    return files;
}

Result<const EngineApi*> load_engine_from(const std::filesystem::path& file) {
    ::setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
    // Local scope keeps torch's symbols away from the window's; deep binding is not wanted (torch exports
    // singletons). The handle stays open for the life of the process: torch's threads and destructors outlive
    // any unloading.
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return module_error(loader_sentence());
    using Entry = const EngineApi* (*)();
    const auto entry = reinterpret_cast<Entry>(::dlsym(handle, "mantissa_engine_api"));
    if (entry == nullptr) return module_error(loader_sentence());
    return checked(entry(), file);
}

Result<const EngineApi*> load_engine() {
    static std::mutex mutex;  // protects the engine
    static const EngineApi* engine = nullptr;
    const std::lock_guard lock(mutex);
    if (engine != nullptr) return engine;
    std::string looked;
    for (const auto& file : engine_candidates()) {
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) {
            auto loaded = load_engine_from(file);
            if (loaded) engine = *loaded;
            return loaded;
        }
        looked += (looked.empty() ? "" : ", ") + file.string();
    }
    return module_error("it isn't there (looked for " + looked + ")");
}

}  // namespace mantissa
