# Compiler, linker and warning settings that hold for all our own targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "" FORCE)

# at::RecordFunction has a member under #ifndef NDEBUG: NDEBUG is part of LibTorch's ABI, so it is set in every preset.
# Our own assertions are MANTISSA_ASSERT (core/base/assert.h), which stays on.
add_compile_definitions(NDEBUG QT_NO_KEYWORDS)

find_program(MANTISSA_CCACHE ccache)
if(MANTISSA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # A precompiled header is only cached under this sloppiness; the base folder lets build/release and build/no-qt share.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${MANTISSA_CCACHE}")
endif()
find_program(MANTISSA_MOLD mold)
if(MANTISSA_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

add_library(mantissa_flags INTERFACE)
target_compile_options(mantissa_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # GCC 12 sees overlaps in std::string that aren't there (its bug 105651)
target_include_directories(mantissa_flags INTERFACE "${PROJECT_SOURCE_DIR}/core" "${PROJECT_SOURCE_DIR}")
