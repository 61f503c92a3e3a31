// Allocator, statistics kernel, masks, copies and NCCL on a real GPU.
#include <gmock/gmock.h>

#include <bit>
#include <filesystem>
#include <random>
#include <thread>

#include "base/work_folder.h"
#include "devices/nvml.h"
#include "devices/out_of_memory.h"
#include "devices/support.h"
#include "distributed/gloo_group.h"
#include "engine/deferred_findings.h"
#include "gpu_fixture.h"
#include "numerics/tensor_record.h"
#include "run/step_clock.h"

namespace mantissa {
namespace {

using testing::HasSubstr;
const torch::Device gpu(torch::kCUDA, 0);

TEST(Gpu, EveryModeIsAsItsCapabilitySays) {
    MANTISSA_NEEDS_GPU();
    const ProbeReport report = probe_devices();
    for (std::size_t i = 1; i < report.devices.size(); ++i) {
        const DeviceFacts& facts = this_machine().devices[i];
        EXPECT_GT(facts.capability_major, 0);
        EXPECT_THAT(facts.uuid, testing::StartsWith("GPU-"));
        for (const ModeSupport& mode : report.devices[i].modes) {
            EXPECT_EQ(mode.support, decide_support(facts, mode.mode, false).support) << mode.reason;
            EXPECT_EQ(mode.tried_ok, mode.tried) << mode.reason;
        }
        const auto used = gpu_figures(open_nvml(), facts.uuid)[1];
        EXPECT_EQ(used.name, "memory_used");
        EXPECT_GT(used.value.value_or(0), 0) << "NVML finds the GPU by its UUID";
    }
}

TEST(Gpu, AllocatorTellsTensorsToTheBlock) {
    MANTISSA_NEEDS_GPU();
    const CudaApi& cuda = *loaded_cuda_plugin();
    constexpr std::int64_t mebibyte = 1 << 20;
    (void)torch::zeros({1}, gpu);
    ASSERT_TRUE(cuda.begin_peak(0).ok());
    const CudaMemory before = *cuda.memory(0);
    {
        const torch::Tensor tensor = torch::empty({64 * mebibyte / 4}, torch::TensorOptions(gpu).dtype(at::kFloat));
        EXPECT_EQ(cuda.memory(0)->allocated - before.allocated, 64 * mebibyte);
        const torch::Tensor small = torch::empty({1}, torch::TensorOptions(gpu).dtype(at::kFloat));
        EXPECT_EQ(cuda.memory(0)->allocated - before.allocated, 64 * mebibyte + 512) << "blocks are multiples of 512 bytes";
    }
    const CudaMemory after = *cuda.memory(0);
    EXPECT_EQ(after.allocated, before.allocated);
    EXPECT_EQ(after.allocated_peak - before.allocated, 64 * mebibyte + 512);
    EXPECT_GE(after.reserved, before.reserved + 64 * mebibyte) << "kept for the next tensor";
    ASSERT_TRUE(cuda.release_cached().ok());
    EXPECT_LT(cuda.memory(0)->reserved, after.reserved);
    EXPECT_GT(after.total, 0);
}

torch::Tensor random_bits(std::int64_t count, at::ScalarType type) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<std::int32_t> bits(static_cast<std::size_t>(count));
    for (std::int32_t& one : bits) one = static_cast<std::int32_t>(random());
    return torch::from_blob(bits.data(), {count}, at::kInt).clone().view(at::kFloat).to(type);
}

TEST(Gpu, StatisticsKernelCountsAsTheCpu) {
    MANTISSA_NEEDS_GPU();
    count_on_device_by(loaded_cuda_plugin()->count_values);
    for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
        for (const std::int64_t count : {1, 31, 8193, 3'000'001}) {
            for (const double factor : {1.0, 0.25}) {
                const torch::Tensor values = random_bits(count, type);
                const TensorStatRow host = tensor_record(values, factor), device = tensor_record(values.to(gpu), factor);
                const std::string what = std::string(c10::toString(type)) + " " + std::to_string(count);
                EXPECT_EQ(device.exponents, host.exponents) << what;
                EXPECT_EQ(device.zero, host.zero) << what;
                EXPECT_EQ(device.subnormal, host.subnormal) << what;
                EXPECT_EQ(device.negative, host.negative) << what;
                EXPECT_EQ(device.nan, host.nan) << what;
                EXPECT_EQ(device.pos_inf, host.pos_inf) << what;
                EXPECT_EQ(device.neg_inf, host.neg_inf) << what;
                EXPECT_EQ(device.largest, host.largest) << what;
                EXPECT_EQ(device.smallest_nonzero, host.smallest_nonzero) << what;
                EXPECT_NEAR(device.rms, host.rms, 1e-12 * host.rms) << what;
                const TensorStatRow again = tensor_record(values.to(gpu), factor);
                EXPECT_EQ(again.mean, device.mean) << "sums are added up in a fixed order";
            }
        }
    }
    const torch::Tensor before = torch::randn({1000}), after = before + 0.01, gradient = torch::randn({1000});
    const TensorStatRow host = update_record(before, after, gradient), device = update_record(before.to(gpu), after.to(gpu), gradient.to(gpu));
    EXPECT_EQ(device.exponents, host.exponents);
    EXPECT_EQ(device.unmoved, host.unmoved);
}

TEST(Gpu, ABadStepIsHeldBackOnTheDevice) {
    MANTISSA_NEEDS_GPU();
    const auto on_gpu = torch::TensorOptions(gpu).dtype(at::kFloat);
    const torch::Tensor weight = torch::ones({1000}, on_gpu), gradient = torch::full({1000}, 0.5, on_gpu);
    const torch::Tensor average = torch::zeros_like(weight), square = torch::zeros_like(weight), count = torch::zeros({}, on_gpu);
    DeferredFindings findings(true);
    const auto step = [&](double loss) {
        const torch::Tensor mask = findings.look({}, {torch::full({}, loss, on_gpu)}, {gradient}, {weight});
        count.add_(1);
        at::_fused_adamw_({weight}, {gradient}, {average}, {square}, {}, {count}, 0.1, 0.9, 0.999, 0.01, 1e-8, false, false, std::nullopt,
                          mask);
        count.sub_(mask);
    };
    step(1);
    const torch::Tensor kept = weight.cpu();
    step(std::numeric_limits<double>::quiet_NaN());
    step(1);
    EXPECT_TRUE(torch::equal(weight.cpu(), kept));
    EXPECT_EQ(count.item<float>(), 1);
    const auto arrived = findings.take(true);
    ASSERT_EQ(arrived.size(), 3u);
    EXPECT_TRUE(arrived[1].is_first_bad && arrived[2].facts.skipped);
    EXPECT_NEAR(arrived[0].facts.grad_norm, 0.5 * std::sqrt(1000), 1e-9);
}

TEST(Gpu, BatchesArriveThroughPinnedMemory) {
    MANTISSA_NEEDS_GPU();
    for (int i = 0; i < 50; ++i) {
        const torch::Tensor batch = torch::full({64, 1000}, i, at::kFloat);
        const torch::Tensor there = sent_to(batch, gpu);
        EXPECT_TRUE(there.is_cuda());
        EXPECT_EQ(there.sum().item<double>(), 64'000.0 * i);
    }
    const Readback back(torch::arange(5, torch::TensorOptions(gpu).dtype(at::kDouble)));
    EXPECT_TRUE(torch::equal(back.values(), torch::arange(5, at::kDouble)));
    EXPECT_TRUE(back.is_there());
}

TEST(Gpu, StepsAreTimedByEvents) {
    MANTISSA_NEEDS_GPU();
    const torch::Tensor matrix = torch::randn({2048, 2048}, gpu);
    StepClock empty(gpu);
    empty.stop();
    StepClock busy(gpu);
    for (int i = 0; i < 20; ++i) (void)matrix.mm(matrix);
    busy.stop();
    EXPECT_GE(empty.ns(), 0);
    EXPECT_GT(busy.ns(), empty.ns());
}

TEST(Gpu, OutOfMemoryIsExplainedAndOver) {
    MANTISSA_NEEDS_GPU();
    const std::int64_t too_much = loaded_cuda_plugin()->memory(0)->total * 2 / 4;
    try {
        (void)torch::empty({too_much}, torch::TensorOptions(gpu).dtype(at::kFloat));
        FAIL() << "twice the GPU's memory was given";
    } catch (const c10::OutOfMemoryError& error) {
        const Error explained = explain_out_of_memory(error.what(), peak_of_gpu());
        EXPECT_THAT(explained.message, HasSubstr("more were asked for"));
        EXPECT_THAT(explained.message, HasSubstr("this process had"));
        EXPECT_THAT(explained.hint, HasSubstr("three ways out"));
    }
    ASSERT_TRUE(loaded_cuda_plugin()->release_cached().ok());
    EXPECT_EQ(torch::ones({1000}, gpu).sum().item<double>(), 1000);
}

double sum_over(const RankPlace& place) {
    const auto group = join_group(place);
    EXPECT_TRUE(group.ok());
    const auto added = add_backend(**group, [&](c10d::ProcessGroup& of_c10d, c10d::Store& store, const RankPlace& own) {
        return loaded_cuda_plugin()->add_nccl({of_c10d, store, own.rank, own.size, own.rank, own.timeout_ms});
    });
    EXPECT_TRUE(added.ok()) << (added ? "" : describe(added.error()));
    if (!added) return 0;
    const torch::Device own(torch::kCUDA, static_cast<c10::DeviceIndex>(place.rank));
    torch::Tensor value = torch::full({3}, static_cast<double>(place.rank) + 1, own);
    (*group)->all_reduce(value, ReduceOperation::Sum);
    torch::Tensor sent = torch::full({2}, static_cast<double>(place.rank) + 7, own);
    (*group)->broadcast(sent, 0);
    EXPECT_EQ(sent[1].item<double>(), 7);
    return value[2].item<double>();
}

TEST(Gpu, NcclOnOneRank) {
    MANTISSA_NEEDS_GPU();
    const auto folder = WorkFolder::make("nccl");
    EXPECT_EQ(sum_over({.rank = 0, .size = 1, .store_file = folder->path() / "store"}), 1);
}

TEST(Gpu, NcclOnTwoRanks) {
    MANTISSA_NEEDS_GPU();
    if (this_machine().devices.size() < 3) GTEST_SKIP() << "NOT TRIED, this machine has one GPU";
    const auto folder = WorkFolder::make("nccl");
    double first = 0, second = 0;
    const auto place = [&](std::int64_t rank) { return RankPlace{.rank = rank, .size = 2, .store_file = folder->path() / "store"}; };
    std::thread other([&] { second = sum_over(place(1)); });
    first = sum_over(place(0));
    other.join();
    EXPECT_EQ(first, 3);
    EXPECT_EQ(second, 3);
}

}  // namespace
}  // namespace mantissa
