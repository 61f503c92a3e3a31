// LibTorch's words when a GPU is full, and ours.
#include "devices/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mantissa {
namespace {

using testing::HasSubstr;

// As c10's CUDACachingAllocator throws it (LibTorch 2.11).
constexpr const char* torch_text =
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.25 GiB is free. Process 4711 has "
    "77.80 GiB memory in use. Of the allocated memory 76.30 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but "
    "unallocated.";

TEST(OutOfMemory, TellsRequestRoomPeakAndThreeWaysOut) {
    CudaMemory memory;
    memory.allocated_peak = std::int64_t{76} << 30;
    memory.reserved_peak = std::int64_t{77} << 30;
    const Error error = explain_out_of_memory(torch_text, memory);
    EXPECT_THAT(error.message, HasSubstr("the memory of cuda:1 is full: 20.00 GiB more were asked for, 1.25 GiB of 79.11 GiB are free"));
    EXPECT_THAT(error.message, HasSubstr("this process had 76.00 GiB in tensors at most, and 77.00 GiB taken from the driver"));
    EXPECT_THAT(error.hint, HasSubstr("gradient_accumulation_steps"));
    EXPECT_THAT(error.hint, HasSubstr("bf16"));
    EXPECT_THAT(error.hint, HasSubstr("nvidia-smi"));
    EXPECT_EQ(exit_code(error.code), 3);
}

TEST(OutOfMemory, InOtherWordsStaysASentence) {
    const Error error = explain_out_of_memory("out of memory", std::nullopt);
    EXPECT_EQ(error.message, "the memory of the GPU is full") << "nothing is made up";
    EXPECT_FALSE(error.hint.empty());
}

}  // namespace
}  // namespace mantissa
