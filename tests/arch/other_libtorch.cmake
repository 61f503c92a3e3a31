# A LibTorch of another version is refused at configure time, with both versions; so is a folder without one.
function(expect_refusal version expected)
    file(REMOVE_RECURSE "${WORK}")
    file(MAKE_DIRECTORY "${WORK}/torch/include/torch/headeronly" "${WORK}/torch/lib")
    if(version)
        string(REPLACE "." ";" pieces "${version}")
        list(GET pieces 0 major)
        list(GET pieces 1 minor)
        list(GET pieces 2 patch)
        file(WRITE "${WORK}/torch/include/torch/headeronly/version.h" "#define TORCH_VERSION_MAJOR ${major}
#define TORCH_VERSION_MINOR ${minor}
#define TORCH_VERSION_PATCH ${patch}
")
    endif()
    file(WRITE "${WORK}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(Other LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH \"${SOURCE}/packaging/cmake\")
find_package(LibTorch 2.11 REQUIRED)
")
    execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build" "-DMANTISSA_LIBTORCH=${WORK}/torch"
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    if(result EQUAL 0 OR NOT output MATCHES "${expected}")
        message(FATAL_ERROR "LibTorch '${version}': expected '${expected}', got ${result}: ${output}")
    endif()
endfunction()

expect_refusal(2.10.0 "needs LibTorch 2.11, but .*torch holds 2.10.0")
expect_refusal(2.12.1 "needs LibTorch 2.11, but .*torch holds 2.12.1")
expect_refusal("" "no LibTorch in .*torch: run packaging/setup")
