#pragma once
// What a fuzz target has of the input: a file in memory, for readers that take a path. One a process; libFuzzer calls one by one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace mantissa::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// A file of that content in a folder of this process (in memory where /dev/shm is); the next call with the same name replaces it.
std::filesystem::path file_with(const char* name, std::string_view content);
/// The folder itself.
const std::filesystem::path& folder();

}  // namespace mantissa::fuzz
