// A driver, a management library and a plugin that aren't here: what is said of each, and what is made of their answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <map>

#include "devices/cuda_plugin.h"
#include "devices/nvidia_driver.h"
#include "devices/nvml.h"
#include "devices/probe.h"

namespace mantissa {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

DriverLibrary driver_of_two() {
    DriverCalls calls;
    calls.init = [](unsigned) { return 0; };
    calls.version = [](int* version) { return *version = 13010, 0; };
    calls.count = [](int* count) { return *count = 2, 0; };
    calls.name = [](char* name, int, int device) { return std::strcpy(name, device == 0 ? "Big" : "Small"), 0; };
    calls.memory = [](std::size_t* bytes, int device) { return *bytes = device == 0 ? 80u << 20 : 8u << 20, 0; };
    calls.attribute = [](int* value, int attribute, int device) {
        *value = attribute == 75 ? (device == 0 ? 9 : 7) : (device == 0 ? 0 : 5);
        return 0;
    };
    calls.uuid = [](unsigned char* bytes, int device) {
        for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(16 * i + device);
        return device == 0 ? 0 : 1;
    };
    return {true, "", calls};
}

TEST(Driver, TellsItsGpus) {
    const DriverAnswer answer = ask_driver(driver_of_two(), 10s);
    EXPECT_TRUE(answer.is_there);
    EXPECT_EQ(answer.note, "");
    EXPECT_EQ(answer.cuda_version, 13010);
    ASSERT_EQ(answer.devices.size(), 2u);
    EXPECT_EQ(answer.devices[0].id, "cuda:0");
    EXPECT_EQ(answer.devices[0].name, "Big");
    EXPECT_EQ(answer.devices[0].memory_bytes, 80 << 20);
    EXPECT_EQ(answer.devices[0].capability(), "9.0");
    EXPECT_EQ(answer.devices[0].uuid, "GPU-00102030-4050-6070-8090-a0b0c0d0e0f0");
    EXPECT_EQ(answer.devices[1].capability(), "7.5");
    EXPECT_EQ(answer.devices[1].uuid, "") << "not known, and not zeros";
}

TEST(Driver, MissingTooOldOrWithoutAGpuIsASentence) {
    EXPECT_EQ(ask_driver({}, 10s).note, "no NVIDIA driver: libcuda.so.1 isn't on this machine");
    const DriverLibrary ancient{true, "cuDeviceGetUuid_v2", std::nullopt};
    EXPECT_EQ(ask_driver(ancient, 10s).note,
              "the NVIDIA driver is too old: libcuda.so.1 lacks cuDeviceGetUuid_v2: install driver 580 or newer");
    DriverLibrary old = driver_of_two();
    old.calls->version = [](int* version) { return *version = 12040, 0; };
    const DriverAnswer too_old = ask_driver(old, 10s);
    EXPECT_FALSE(too_old.is_there);
    EXPECT_TRUE(too_old.devices.empty());
    EXPECT_EQ(too_old.note,
              "the NVIDIA driver is too old: it speaks CUDA 12.4, LibTorch here needs 13.0: install driver 580 or newer");
    DriverLibrary without = driver_of_two();
    without.calls->init = [](unsigned) { return 100; };
    EXPECT_THAT(ask_driver(without, 10s).note, HasSubstr("(cuInit: 100): it finds no GPU; is one hidden by CUDA_VISIBLE_DEVICES?"));
    DriverLibrary two_versions = driver_of_two();
    two_versions.calls->init = [](unsigned) { return 803; };
    EXPECT_THAT(ask_driver(two_versions, 10s).note, HasSubstr("restart the machine"));
}

TEST(Driver, ThatHangsIsLeftBehind) {
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    DriverLibrary hanging = driver_of_two();
    hanging.calls->init = [released](unsigned) { return released.wait(), 0; };
    const DriverAnswer answer = ask_driver(hanging, 20ms);
    EXPECT_FALSE(answer.is_there);
    EXPECT_THAT(answer.note, StartsWith("the NVIDIA driver hangs: it hasn't answered within"));
    release.set_value();
}

NvmlCalls nvml_of_one() {
    NvmlCalls calls;
    calls.driver_version = [](char* text, unsigned) { return std::strcpy(text, "580.65.06"), 0; };
    calls.device_of = [](const char* uuid, NvmlDevice* device) {
        static int only = 0;
        if (std::strcmp(uuid, "GPU-1") != 0) return 6;
        *device = &only;
        return 0;
    };
    calls.memory = [](NvmlDevice, NvmlMemory* memory) { return *memory = {100, 60, 40}, 0; };
    calls.utilization = [](NvmlDevice, NvmlUtilization*) { return 3; };  // not supported
    calls.temperature = [](NvmlDevice, unsigned, unsigned* degrees) { return *degrees = 41, 0; };
    calls.power = [](NvmlDevice, unsigned* milliwatts) { return *milliwatts = 72'500, 0; };
    calls.clock = [](NvmlDevice, unsigned clock, unsigned* megahertz) { return *megahertz = clock == 1 ? 1980 : 0, 0; };
    return calls;
}

std::map<std::string, DeviceFigure> by_name(const std::vector<DeviceFigure>& figures) {
    std::map<std::string, DeviceFigure> named;
    for (const DeviceFigure& figure : figures) named[figure.name] = figure;
    return named;
}

TEST(Nvml, AnswersByUuidAndSaysWhatItDoesNotKnow) {
    auto figures = by_name(gpu_figures(nvml_of_one(), "GPU-1"));
    EXPECT_EQ(figures["driver"].text, "580.65.06");
    EXPECT_EQ(figures["memory_used"].value, 40);
    EXPECT_EQ(figures["busy"].value, std::nullopt) << "not supported is not 0";
    EXPECT_EQ(figures["temperature"].value, 41);
    EXPECT_EQ(figures["power"].value, 72.5);
    EXPECT_EQ(figures["power_limit"].value, std::nullopt) << "this library has no such call";
    EXPECT_EQ(figures["clock"].value, 1980);
}

TEST(Nvml, MissingOrOfAnotherGpuKnowsNothing) {
    for (const auto& nvml : {std::optional<NvmlCalls>(), std::optional(nvml_of_one())}) {
        const auto figures = gpu_figures(nvml, nvml ? "GPU-2" : "GPU-1");
        EXPECT_EQ(figures.size(), 7u);
        for (const DeviceFigure& figure : figures) {
            EXPECT_EQ(figure.value, std::nullopt) << figure.name;
            EXPECT_EQ(figure.text.empty(), figure.name != "driver" || !nvml);
        }
    }
}

TEST(Plugin, OfAnotherBuildIsRefusedWithBothNames) {
    const auto refused = load_cuda_plugin_from(MANTISSA_WRONG_PLUGIN);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::NotBuilt);
    EXPECT_THAT(refused.error().message, HasSubstr("speaks 'mantissa-cuda-0', this engine needs '" + std::string(cuda_abi) + "'"));
    EXPECT_THAT(refused.error().hint, HasSubstr("one build"));
    EXPECT_EQ(loaded_cuda_plugin(), nullptr);
}

TEST(Plugin, MissingOrNoPluginAtAllIsASentence) {
    setenv("MANTISSA_CUDA_PLUGIN", "/nowhere/libmantissa-cuda.so", 1);
    const auto missing = load_cuda_plugin();
    EXPECT_THAT(missing.error().message, HasSubstr("it isn't there (looked for /nowhere/libmantissa-cuda.so)"));
    EXPECT_THAT(missing.error().hint, HasSubstr("--cuda-build"));
    unsetenv("MANTISSA_CUDA_PLUGIN");
    EXPECT_THAT(load_cuda_plugin_from("/dev/null").error().message, HasSubstr("/dev/null"));
}

DeviceList two_gpus(int first_major, int second_major) {
    DeviceList list;
    list.devices.resize(3);
    list.cuda_is_loaded = true;
    for (int i = 0; i < 2; ++i) {
        DeviceFacts& gpu = list.devices[static_cast<std::size_t>(i) + 1];
        gpu.kind = DeviceFacts::Kind::Cuda;
        gpu.id = "cuda:" + std::to_string(i);
        gpu.name = i == 0 ? "First" : "Second";
        gpu.capability_major = i == 0 ? first_major : second_major;
    }
    return list;
}

TEST(SeveralGpus, TheWeakestDecidesForAllAndIsNamed) {
    for (const std::int64_t rank : {0, 1}) {
        const auto refused = choose_device_of_several(two_gpus(8, 7), {"cuda", 2, rank}, Precision::Bf16, false);
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedPrecision);
        EXPECT_THAT(refused.error().message, HasSubstr("cuda:1 (Second) has compute capability 7.0"));
        const auto allowed = choose_device_of_several(two_gpus(8, 7), {"auto", 2, rank}, Precision::Bf16, true);
        ASSERT_TRUE(allowed.ok());
        EXPECT_EQ(allowed->device.id, rank == 0 ? "cuda:0" : "cuda:1") << "each process its own";
        EXPECT_EQ(allowed->precision.support, Support::Emulated);
        EXPECT_THAT(allowed->precision.reason, HasSubstr("cuda:1 (Second)"));
        EXPECT_EQ(choose_device_of_several(two_gpus(8, 7), {"cuda", 2, rank}, Precision::Fp16, false)->precision.support, Support::Native);
    }
    EXPECT_THAT(choose_device_of_several(two_gpus(6, 8), {"cuda", 2, 1}, Precision::Fp16, true)->precision.reason, HasSubstr("cuda:0 (First)"));
}

TEST(SeveralGpus, OneForEachProcessOrNone) {
    const auto few = choose_device_of_several(two_gpus(8, 8), {"cuda", 3, 0}, Precision::No, false);
    EXPECT_EQ(few.error().code, ErrorCode::UnsupportedDevice);
    EXPECT_THAT(few.error().message, HasSubstr("3 processes want a GPU each, this machine has 2"));
    EXPECT_EQ(choose_device_of_several(two_gpus(8, 8), {"auto", 3, 0}, Precision::No, false)->device.id, "cpu");
    EXPECT_THAT(choose_device_of_several(two_gpus(8, 8), {"cuda:1", 2, 0}, Precision::No, false).error().message, HasSubstr("can't share cuda:1"));
    EXPECT_EQ(choose_device_of_several(two_gpus(8, 8), {"cpu", 2, 1}, Precision::No, false)->device.id, "cpu");
    DeviceList without;
    without.devices.resize(1);
    without.notes = {"no NVIDIA driver: libcuda.so.1 isn't on this machine"};
    EXPECT_THAT(choose_device_of_several(without, {"cuda", 2, 0}, Precision::No, false).error().message, HasSubstr("no NVIDIA driver"));
    EXPECT_EQ(choose_device_of_several(without, {"auto", 2, 0}, Precision::No, false)->device.id, "cpu");
}

}  // namespace
}  // namespace mantissa
