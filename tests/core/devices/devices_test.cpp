#include <gtest/gtest.h>

#include "base/process_memory.h"
#include "devices/cpu_facts.h"
#include "devices/memory_meter.h"
#include "devices/nvidia_driver.h"
#include "devices/probe.h"
#include "devices/support.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

DeviceFacts gpu(int major, int minor) {
    DeviceFacts facts;
    facts.kind = DeviceFacts::Kind::Cuda;
    facts.id = "cuda:0";
    facts.name = "A GPU";
    facts.capability_major = major;
    facts.capability_minor = minor;
    return facts;
}

DeviceFacts cpu() {
    DeviceFacts facts;
    facts.name = "A CPU";
    facts.has_avx2 = true;
    return facts;
}

struct Case {
    int major, minor;
    Support fp16, bf16, fp8;
};

class CudaSupport : public testing::TestWithParam<Case> {};

TEST_P(CudaSupport, FollowsTheCapability) {
    const Case& expected = GetParam();
    const DeviceFacts device = gpu(expected.major, expected.minor);
    EXPECT_EQ(decide_support(device, Precision::No, false).support, Support::Native);
    EXPECT_EQ(decide_support(device, Precision::Fp16, false).support, expected.fp16);
    EXPECT_EQ(decide_support(device, Precision::Bf16, false).support, expected.bf16);
    EXPECT_EQ(decide_support(device, Precision::Fp8, false).support, expected.fp8);
    for (const Precision mode : all_precisions) {
        const SupportAnswer answer = decide_support(device, mode, false),
                            asked = decide_support(device, mode, true);
        EXPECT_EQ(answer.allowed, answer.support == Support::Native);
        EXPECT_EQ(asked.allowed, asked.support != Support::Unsupported);
        EXPECT_NE(answer.reason.find("cuda:0 (A GPU)"), std::string::npos);
        if (answer.support != Support::Native) {
            EXPECT_NE(answer.reason.find(device.capability()), std::string::npos);
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Capabilities, CudaSupport,
                         testing::Values(Case{6, 1, Support::Emulated, Support::Emulated,
                                              Support::Unsupported},
                                         Case{7, 0, Support::Native, Support::Emulated, Support::Unsupported},
                                         Case{7, 5, Support::Native, Support::Emulated, Support::Unsupported},
                                         Case{8, 0, Support::Native, Support::Native, Support::Unsupported},
                                         Case{8, 6, Support::Native, Support::Native, Support::Unsupported},
                                         Case{8, 9, Support::Native, Support::Native, Support::Native},
                                         Case{9, 0, Support::Native, Support::Native, Support::Native},
                                         Case{10, 0, Support::Native, Support::Native, Support::Native}));

TEST(CpuSupport, EmulatedModesAreAllowedAndNamed) {
    for (const Precision mode : {Precision::Fp16, Precision::Bf16}) {
        const SupportAnswer answer = decide_support(cpu(), mode, false);
        EXPECT_EQ(answer.support, Support::Emulated);
        EXPECT_TRUE(answer.allowed);
        EXPECT_NE(answer.reason.find("AVX512"), std::string::npos);
    }
}

TEST(CpuSupport, NativeByEitherInstructionSet) {
    DeviceFacts facts = cpu();
    facts.has_avx512_bf16 = true;
    EXPECT_EQ(decide_support(facts, Precision::Bf16, false).support, Support::Native);
    EXPECT_EQ(decide_support(facts, Precision::Fp16, false).support, Support::Emulated);
    facts = cpu();
    facts.has_amx_fp16 = true;
    EXPECT_EQ(decide_support(facts, Precision::Fp16, false).support, Support::Native);
    EXPECT_EQ(decide_support(facts, Precision::Bf16, false).support, Support::Emulated);
}

TEST(CpuSupport, HeldBackByTheEnvironmentIsNotNative) {
    DeviceFacts facts = cpu();
    facts.has_avx512_bf16 = true;
    facts.held_back_by = "ATEN_CPU_CAPABILITY=avx2";
    const SupportAnswer answer = decide_support(facts, Precision::Bf16, false);
    EXPECT_EQ(answer.support, Support::Emulated);
    EXPECT_NE(answer.reason.find("ATEN_CPU_CAPABILITY=avx2"), std::string::npos);
}

TEST(CpuSupport, Fp8OnlyWhenEmulationIsAllowed) {
    const SupportAnswer refused = decide_support(cpu(), Precision::Fp8, false);
    EXPECT_EQ(refused.support, Support::Unsupported);
    EXPECT_FALSE(refused.allowed);
    EXPECT_NE(refused.reason.find("8.9"), std::string::npos);
    EXPECT_EQ(decide_support(cpu(), Precision::Fp8, true).support, Support::Emulated);
}

TEST(CpuFacts, FromTheKernelsTexts) {
    const char* cpuinfo =
        "processor\t: 0\nmodel name\t: Some Xeon @ 2.0GHz\nflags\t\t: fpu avx2 avx512f avx512bw avx512vl "
        "avx512_bf16 amx_bf16\n\n"
        "processor\t: 1\nmodel name\t: Some Xeon @ 2.0GHz\nflags\t\t: fpu\n";
    const DeviceFacts facts = parse_cpu_facts(cpuinfo, "MemTotal:       16384 kB\nMemFree: 1 kB\n", "");
    EXPECT_EQ(facts.name, "Some Xeon @ 2.0GHz, 2 cores");
    EXPECT_EQ(facts.cores, 2);
    EXPECT_EQ(facts.memory_bytes, 16384 * 1024);
    EXPECT_TRUE(facts.has_avx512 && facts.has_avx512_bf16 && facts.has_amx_bf16);
    EXPECT_FALSE(facts.has_avx512_fp16 || facts.has_amx_fp16);
    EXPECT_EQ(facts.capability(), "AVX512 + AVX512-BF16 + AMX-BF16");
}

TEST(CpuFacts, SurviveStrangeTexts) {
    EXPECT_EQ(parse_cpu_facts("", "", "").memory_bytes, 0);
    EXPECT_EQ(parse_cpu_facts("flags\nmodel name", "MemTotal", "").capability(), "no AVX2");
}

TEST(CpuFacts, EnvironmentThatHoldsBackIsNamed) {
    setenv("ATEN_CPU_CAPABILITY", "avx2", 1);
    EXPECT_EQ(read_cpu_facts().held_back_by, "ATEN_CPU_CAPABILITY=avx2");
    setenv("ATEN_CPU_CAPABILITY", "avx512", 1);
    EXPECT_EQ(read_cpu_facts().held_back_by, "");
    unsetenv("ATEN_CPU_CAPABILITY");
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    EXPECT_EQ(read_cpu_facts().held_back_by, "ONEDNN_MAX_CPU_ISA=AVX2");
}

TEST(Probe, TriesEveryModeOfThisMachine) {
    const ProbeReport report = probe_devices();
    ASSERT_FALSE(report.devices.empty());
    const DeviceReport& device = report.devices.front();
    EXPECT_EQ(device.id, "cpu");
    EXPECT_GT(device.memory_bytes, 100'000'000);
    ASSERT_EQ(device.modes.size(), 4u);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(device.modes[i].tried && device.modes[i].tried_ok) << device.modes[i].reason;
        EXPECT_NE(device.modes[i].support, Support::Unsupported);
        EXPECT_GT(*device.modes[i].trial_ms, 0);
    }
    EXPECT_EQ(device.modes[3].support, Support::Unsupported);
    EXPECT_FALSE(device.modes[3].tried);
    if (!ask_nvidia_driver().is_there) {
        ASSERT_FALSE(report.notes.empty());
        EXPECT_NE(report.notes.front().find("NVIDIA driver"), std::string::npos);
    }
}

DeviceList with_gpu(int major, int minor) {
    DeviceList list;
    list.devices = {cpu(), gpu(major, minor)};
    list.cuda_is_loaded = true;
    return list;
}

TEST(Choice, NeverTakesAnotherModeThanAskedFor) {
    for (const Precision mode : {Precision::No, Precision::Fp16, Precision::Bf16}) {
        const auto choice = choose_device(with_gpu(8, 0), "auto", mode, false);
        ASSERT_TRUE(choice.ok());
        EXPECT_EQ(choice->device.id, "cuda:0");
        EXPECT_EQ(choice->precision.requested, mode);
        EXPECT_EQ(choice->precision.effective, mode);
    }
}

TEST(Choice, EmulatedBf16OnAnOldGpuOnlyWhenAllowed) {
    const auto refused = choose_device(with_gpu(7, 5), "cuda:0", Precision::Bf16, false);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedPrecision);
    EXPECT_NE(refused.error().message.find("7.5"), std::string::npos);
    EXPECT_NE(refused.error().hint.find("fp16"), std::string::npos);
    const auto allowed = choose_device(with_gpu(7, 5), "cuda", Precision::Bf16, true);
    ASSERT_TRUE(allowed.ok());
    EXPECT_EQ(allowed->precision.support, Support::Emulated);
    EXPECT_EQ(allowed->precision.effective, Precision::Bf16);
}

TEST(Choice, Fp8IsNativeFrom89AndOnACpuOnlyWhereEmulationIsAllowed) {
    for (const auto& [major, minor] : {std::pair{8, 9}, {9, 0}}) {
        const auto native = choose_device(with_gpu(major, minor), "auto", Precision::Fp8, false);
        ASSERT_TRUE(native.ok());
        EXPECT_EQ(native->device.id, "cuda:0");
        EXPECT_EQ(native->precision.support, Support::Native);
        EXPECT_EQ(native->precision.effective, Precision::Fp8);
    }
    // Emulation isn't a way out on a GPU, and no other mode is taken instead.
    const auto old = choose_device(with_gpu(8, 0), "auto", Precision::Fp8, true);
    ASSERT_FALSE(old.ok());
    EXPECT_EQ(old.error().code, ErrorCode::UnsupportedPrecision);
    EXPECT_NE(old.error().message.find("compute capability 8.0: fp8 needs 8.9 or more"), std::string::npos) << old.error().message;
    const auto refused = choose_device(with_gpu(8, 0), "cpu", Precision::Fp8, false);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedPrecision);
    EXPECT_NE(refused.error().message.find("--allow-emulated"), std::string::npos);
    EXPECT_EQ(refused.error().hint, "choose one of no, fp16, bf16");
    const auto emulated = choose_device(with_gpu(8, 0), "cpu", Precision::Fp8, true);
    ASSERT_TRUE(emulated.ok());
    EXPECT_EQ(emulated->precision.support, Support::Emulated);
    EXPECT_EQ(emulated->precision.effective, Precision::Fp8);
}

TEST(Choice, MissingDeviceSaysWhyAndWhatThereIs) {
    DeviceList list;
    list.devices = {cpu()};
    list.notes = {"no NVIDIA driver: libcuda.so.1 isn't on this machine"};
    const auto refused = choose_device(list, "cuda", Precision::Fp16, false);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedDevice);
    EXPECT_NE(refused.error().message.find("no NVIDIA driver"), std::string::npos);
    EXPECT_NE(refused.error().hint.find("cpu"), std::string::npos);
    EXPECT_EQ(choose_device(list, "auto", Precision::Fp16, false)->device.id, "cpu");
    // A GPU that can't be computed on is not taken by auto, and not by name.
    DeviceList unloaded = with_gpu(9, 0);
    unloaded.cuda_is_loaded = false;
    EXPECT_EQ(choose_device(unloaded, "auto", Precision::Fp16, false)->device.id, "cpu");
    EXPECT_EQ(choose_device(unloaded, "cuda:0", Precision::Fp16, false).error().code,
              ErrorCode::UnsupportedDevice);
}

TEST(Memory, CountsTensorsToTheByte) {
    const MemoryMeter meter(at::kCPU);
    const std::int64_t before = meter.current_bytes();
    {
        const auto tensor = torch::zeros({1000, 256}, torch::kFloat);
        EXPECT_EQ(meter.current_bytes() - before, 1'024'000);
    }
    EXPECT_EQ(meter.current_bytes(), before);
    EXPECT_GE(meter.peak_bytes(), before + 1'024'000);
}

TEST(Memory, PeakStartsAnewWithEachStep) {
    MemoryMeter meter(at::kCPU);
    const auto kept = torch::zeros({1000}, torch::kFloat);
    { const auto large = torch::zeros({100'000}, torch::kFloat); }
    EXPECT_GE(meter.peak_bytes(), 404'000);
    meter.begin_step();
    EXPECT_EQ(meter.peak_bytes(), meter.current_bytes());
    { const auto small = torch::zeros({1000}, torch::kFloat); }
    EXPECT_EQ(meter.peak_bytes(), meter.current_bytes() + 4000);
}

TEST(Memory, NobodyListensAfterwards) {
    { const MemoryMeter meter(at::kCPU); }
    const MemoryMeter other(at::kCPU);
    const auto tensor = torch::zeros({10});
    EXPECT_EQ(other.current_bytes(), static_cast<std::int64_t>(tensor.nbytes()));
    EXPECT_GT(resident_bytes(), 10'000'000);
}

}  // namespace
}  // namespace mantissa
