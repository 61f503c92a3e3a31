#include "devices/cuda_plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "torch_pch.h"

namespace mantissa {
namespace {

constexpr const char* plugin_name = "libmantissa-cuda.so";
constexpr const char* way_out =
    "build it: packaging/setup --cuda-build, then configure anew (MANTISSA_WITH_CUDA), or name the file in MANTISSA_CUDA_PLUGIN";

const CudaApi*& loaded() {
    static const CudaApi* api = nullptr;
    return api;
}

Error plugin_error(const std::string& message, const std::string& hint = way_out) {
    return {ErrorCode::NotBuilt, "the plugin for NVIDIA GPUs can't be used: " + message, hint};
}

std::string loader_sentence() {
    const char* text = ::dlerror();
    return text != nullptr ? text : "unknown error of the dynamic loader";
}

Result<const CudaApi*> checked(const CudaApi* api, const std::filesystem::path& file) {
    constexpr const char* build_both = "engine and plugin must come from one build: build both again";
    if (api == nullptr || api->abi == nullptr || api->torch_version == nullptr)
        return plugin_error(file.string() + " gave no table of functions", build_both);
    if (std::string(api->abi) != cuda_abi)
        return plugin_error(file.string() + " speaks '" + api->abi + "', this engine needs '" + cuda_abi + "'", build_both);
    if (std::string(api->torch_version) != TORCH_VERSION)
        return plugin_error(file.string() + " was built with LibTorch " + api->torch_version + ", this engine with " + TORCH_VERSION,
                            build_both);
    if (api->memory == nullptr || api->begin_peak == nullptr || api->release_cached == nullptr || api->add_nccl == nullptr ||
        api->count_values == nullptr)
        return plugin_error(file.string() + " lacks a function of '" + cuda_abi + "'", build_both);
    return api;
}

}  // namespace

std::vector<std::filesystem::path> cuda_plugin_candidates() {
    // A named plugin is the only candidate: falling back to another one would hide a mistake in the name.
    if (const char* named = std::getenv("MANTISSA_CUDA_PLUGIN"); named != nullptr && *named != '\0') return {named};
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(&load_cuda_plugin), &where) == 0) return {};
    const auto folder = std::filesystem::path(where.dli_fname).parent_path();
    // A test program holds this code itself and lies in bin/.
    return {folder / plugin_name, (folder / ".." / "lib" / plugin_name).lexically_normal()};
}

Result<const CudaApi*> load_cuda_plugin_from(const std::filesystem::path& file) {
    // Open for the life of the process, like LibTorch's own part.
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return plugin_error(loader_sentence());
    using Entry = const CudaApi* (*)();
    const auto entry = reinterpret_cast<Entry>(::dlsym(handle, "mantissa_cuda_api"));
    if (entry == nullptr) return plugin_error(loader_sentence());
    return checked(entry(), file);
}

Result<const CudaApi*> load_cuda_plugin() {
    if (loaded() != nullptr) return loaded();
    std::string looked;
    for (const auto& file : cuda_plugin_candidates()) {
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) {
            auto api = load_cuda_plugin_from(file);
            if (api) loaded() = *api;
            return api;
        }
        looked += (looked.empty() ? "" : ", ") + file.string();
    }
    return plugin_error("it isn't there (looked for " + looked + ")");
}

const CudaApi* loaded_cuda_plugin() { return loaded(); }

}  // namespace mantissa
