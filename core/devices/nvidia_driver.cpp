#include "devices/nvidia_driver.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>

#include "torch_pch.h"

namespace mantissa {
namespace {

// The few entries of the driver API that are needed, with its types spelled out (no CUDA headers).
struct Driver {
    int (*init)(unsigned) = nullptr;
    int (*count)(int*) = nullptr;
    int (*name)(char*, int, int) = nullptr;
    int (*memory)(std::size_t*, int) = nullptr;
    int (*attribute)(int*, int, int) = nullptr;
};
constexpr int attribute_capability_major = 75, attribute_capability_minor = 76;

template <typename Function>
bool load(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool load_all(void* library, Driver& driver) {
    return load(library, "cuInit", driver.init) && load(library, "cuDeviceGetCount", driver.count) &&
           load(library, "cuDeviceGetName", driver.name) &&
           load(library, "cuDeviceTotalMem_v2", driver.memory) &&
           load(library, "cuDeviceGetAttribute", driver.attribute);
}

DeviceFacts facts_of(const Driver& driver, int index) {
    DeviceFacts facts;
    facts.kind = DeviceFacts::Kind::Cuda;
    facts.id = "cuda:" + std::to_string(index);
    std::array<char, 256> name{};
    if (driver.name(name.data(), static_cast<int>(name.size()) - 1, index) == 0) facts.name = name.data();
    std::size_t bytes = 0;
    if (driver.memory(&bytes, index) == 0) facts.memory_bytes = static_cast<std::int64_t>(bytes);
    driver.attribute(&facts.capability_major, attribute_capability_major, index);
    driver.attribute(&facts.capability_minor, attribute_capability_minor, index);
    return facts;
}

}  // namespace

DriverAnswer ask_nvidia_driver() {
    DriverAnswer answer;
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        answer.note = "no NVIDIA driver: libcuda.so.1 isn't on this machine";
        return answer;
    }
    Driver driver;
    if (!load_all(library, driver)) {
        answer.note = "the NVIDIA driver is too old: libcuda.so.1 lacks the calls that are needed";
        return answer;
    }
    int count = 0;
    const int status = driver.init(0);
    if (status != 0 || driver.count(&count) != 0 || count == 0) {
        answer.note =
            "the NVIDIA driver is there, but it has no usable GPU (cuInit: " + std::to_string(status) + ")";
        return answer;
    }
    answer.is_there = true;
    for (int i = 0; i < count; ++i) answer.devices.push_back(facts_of(driver, i));
    return answer;
}

std::string load_torch_cuda() {
    if (torch::cuda::is_available()) return "";
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(&at::getNumGPUs), &where) == 0 &&
        dladdr(reinterpret_cast<void*>(&at::get_num_threads), &where) == 0) {
        return "LibTorch's folder isn't known";
    }
    const auto file = std::filesystem::path(where.dli_fname).parent_path() / "libtorch_cuda.so";
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return dlerror();
    if (!torch::cuda::is_available()) return "LibTorch's CUDA part was loaded, but finds no GPU";
    return "";
}

}  // namespace mantissa
