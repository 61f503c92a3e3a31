#include "devices/nvidia_driver.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "torch_pch.h"

namespace mantissa {
namespace {

// A cold machine with many GPUs takes some seconds to answer.
constexpr std::chrono::seconds longest_answer{20};
constexpr int attribute_capability_major = 75, attribute_capability_minor = 76;

template <typename... Arguments>
void load(void* library, const char* name, std::function<int(Arguments...)>& call, std::string& missing) {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) {
        if (missing.empty()) missing = name;
        return;
    }
    call = reinterpret_cast<int (*)(Arguments...)>(symbol);
}

std::string readable_version(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string meaning_of(int status) {
    switch (status) {
        case 34:
            return "only NVIDIA's stub library is here";
        case 100:
            return "it finds no GPU; is one hidden by CUDA_VISIBLE_DEVICES?";
        case 802:
            return "the machine's GPU fabric isn't ready yet";
        case 803:
            return "its library and its kernel module are of different versions: restart the machine";
        case 804:
            return "its compatibility library doesn't fit this GPU";
        default:
            return "look at the kernel's log, and whether nvidia-smi answers";
    }
}

// "GPU-8a3f…": as nvidia-smi prints it.
std::string text_of(const std::array<unsigned char, 16>& uuid) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits[uuid[i] >> 4];
        text += digits[uuid[i] & 15];
    }
    return text;
}

DeviceFacts facts_of(const DriverCalls& driver, int index) {
    DeviceFacts facts;
    facts.kind = DeviceFacts::Kind::Cuda;
    facts.id = "cuda:" + std::to_string(index);
    std::array<char, 256> name{};
    if (driver.name(name.data(), static_cast<int>(name.size()) - 1, index) == 0) facts.name = name.data();
    std::size_t bytes = 0;
    if (driver.memory(&bytes, index) == 0) facts.memory_bytes = static_cast<std::int64_t>(bytes);
    driver.attribute(&facts.capability_major, attribute_capability_major, index);
    driver.attribute(&facts.capability_minor, attribute_capability_minor, index);
    std::array<unsigned char, 16> uuid{};
    if (driver.uuid(uuid.data(), index) == 0) facts.uuid = text_of(uuid);
    return facts;
}

DriverAnswer answer_of(const DriverCalls& driver) {
    DriverAnswer answer;
    if (const int status = driver.init(0); status != 0) {
        answer.note = "the NVIDIA driver is there, but can't be used (cuInit: " + std::to_string(status) + "): " + meaning_of(status);
        return answer;
    }
    if (driver.version(&answer.cuda_version) != 0) answer.cuda_version = 0;
    if (answer.cuda_version < needed_cuda_version) {
        answer.note = "the NVIDIA driver is too old: it speaks CUDA " + readable_version(answer.cuda_version) +
                      ", LibTorch here needs " + readable_version(needed_cuda_version) + ": install driver 580 or newer";
        return answer;
    }
    int count = 0;
    if (const int status = driver.count(&count); status != 0 || count == 0) {
        answer.note = "the NVIDIA driver is there, but " + meaning_of(100);
        return answer;
    }
    answer.is_there = true;
    for (int i = 0; i < count; ++i) answer.devices.push_back(facts_of(driver, i));
    return answer;
}

}  // namespace

DriverLibrary open_driver_library() {
    DriverLibrary found;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return found;
    found.is_there = true;
    DriverCalls calls;
    load(library, "cuInit", calls.init, found.missing_call);
    load(library, "cuDriverGetVersion", calls.version, found.missing_call);
    load(library, "cuDeviceGetCount", calls.count, found.missing_call);
    load(library, "cuDeviceGetName", calls.name, found.missing_call);
    load(library, "cuDeviceTotalMem_v2", calls.memory, found.missing_call);
    load(library, "cuDeviceGetAttribute", calls.attribute, found.missing_call);
    load(library, "cuDeviceGetUuid_v2", calls.uuid, found.missing_call);
    if (found.missing_call.empty()) found.calls = std::move(calls);
    return found;
}

DriverAnswer ask_driver(const DriverLibrary& library, std::chrono::milliseconds limit) {
    DriverAnswer answer;
    if (!library.is_there) {
        answer.note = "no NVIDIA driver: libcuda.so.1 isn't on this machine";
        return answer;
    }
    if (!library.calls) {
        answer.note = "the NVIDIA driver is too old: libcuda.so.1 lacks " + library.missing_call + ": install driver 580 or newer";
        return answer;
    }
    // The thread owns all that it touches: it may outlive this call, and the process ends without it.
    const auto promise = std::make_shared<std::promise<DriverAnswer>>();
    auto future = promise->get_future();
    std::thread([promise, calls = *library.calls] { promise->set_value(answer_of(calls)); }).detach();
    if (future.wait_for(limit) == std::future_status::ready) return future.get();
    answer.note = "the NVIDIA driver hangs: it hasn't answered within " + std::to_string(limit.count() / 1000) +
                  " s, so no GPU is used. Look whether nvidia-smi answers, and at the kernel's log";
    return answer;
}

const DriverAnswer& ask_nvidia_driver() {
    static const DriverAnswer answer = ask_driver(open_driver_library(), longest_answer);
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
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        return std::string(dlerror()) +
               ". A GPU needs all of torch's wheels: in a Python environment, pip install torch==2.11.0, and build with "
               "-DMANTISSA_LIBTORCH=its site-packages/torch";
    }
    if (!torch::cuda::is_available()) return "LibTorch's CUDA part was loaded, but finds no GPU";
    return "";
}

}  // namespace mantissa
