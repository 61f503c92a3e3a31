# LibTorch as plain imported targets: mantissa::torch_cpu (torch_cpu + c10) and, where present, mantissa::torch_cuda.
#
# The wheel's own TorchConfig.cmake wants nvcc and fails with CMake 3.25 and CUDA 13, hence this module. It looks in
# MANTISSA_LIBTORCH (CMake variable, then environment), a folder with include/ and lib/, then in the cache folder that
# packaging/setup fills. Only LibTorch 2.11 is accepted: its C++ ABI is not stable between minor versions.
if(NOT MANTISSA_LIBTORCH AND DEFINED ENV{MANTISSA_LIBTORCH})
    set(MANTISSA_LIBTORCH "$ENV{MANTISSA_LIBTORCH}")
endif()
if(NOT MANTISSA_LIBTORCH)
    include(MantissaCache)
    mantissa_cache_folder(_mantissa_cache)
    set(MANTISSA_LIBTORCH "${_mantissa_cache}/libtorch-2.11.0/torch")
endif()
set(MANTISSA_LIBTORCH "${MANTISSA_LIBTORCH}" CACHE PATH "Folder of LibTorch 2.11 with include/ and lib/")

set(_header "${MANTISSA_LIBTORCH}/include/torch/headeronly/version.h")
if(NOT EXISTS "${_header}")
    set(_header "${MANTISSA_LIBTORCH}/include/torch/version.h")
endif()
if(EXISTS "${_header}")
    file(STRINGS "${_header}" _lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    foreach(_piece MAJOR MINOR PATCH)
        string(REGEX MATCH "TORCH_VERSION_${_piece} ([0-9]+)" _ "${_lines}")
        set(_torch_${_piece} "${CMAKE_MATCH_1}")
    endforeach()
    set(LibTorch_VERSION "${_torch_MAJOR}.${_torch_MINOR}.${_torch_PATCH}")
    if(NOT LibTorch_VERSION VERSION_GREATER_EQUAL "2.11" OR NOT LibTorch_VERSION VERSION_LESS "2.12")
        message(FATAL_ERROR "Mantissa needs LibTorch 2.11, but ${MANTISSA_LIBTORCH} holds ${LibTorch_VERSION}. "
                            "Run packaging/setup, or name another folder with -DMANTISSA_LIBTORCH=DIR.")
    endif()
endif()

find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS "${MANTISSA_LIBTORCH}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS "${MANTISSA_LIBTORCH}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_CUDA_LIBRARY torch_cuda PATHS "${MANTISSA_LIBTORCH}/lib" NO_DEFAULT_PATH)
find_path(LibTorch_INCLUDE_DIR torch/script.h PATHS "${MANTISSA_LIBTORCH}/include" NO_DEFAULT_PATH)
mark_as_advanced(LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_CUDA_LIBRARY LibTorch_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
    REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR VERSION_VAR LibTorch_VERSION
    REASON_FAILURE_MESSAGE "no LibTorch in ${MANTISSA_LIBTORCH}: run packaging/setup, or name a folder with -DMANTISSA_LIBTORCH=DIR")

if(LibTorch_FOUND AND NOT TARGET mantissa::torch_cpu)
    add_library(mantissa::c10 SHARED IMPORTED)
    set_target_properties(mantissa::c10 PROPERTIES IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}")
    add_library(mantissa::torch_cpu SHARED IMPORTED)
    set_target_properties(mantissa::torch_cpu PROPERTIES
        IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES
            "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
        # torch_cpu itself needs libcudart, which lies beside the wheel and is found by its own RUNPATH.
        INTERFACE_LINK_LIBRARIES mantissa::c10)
    if(LibTorch_CUDA_LIBRARY)
        add_library(mantissa::torch_cuda SHARED IMPORTED)
        set_target_properties(mantissa::torch_cuda PROPERTIES IMPORTED_LOCATION "${LibTorch_CUDA_LIBRARY}"
            INTERFACE_LINK_LIBRARIES mantissa::torch_cpu)
    endif()
endif()
