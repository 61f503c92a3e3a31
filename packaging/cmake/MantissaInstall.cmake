# What `cmake --install` places. Components:
#   programs   bin/mantissa, bin/mantissa-workbench, the engine module, resources
#   library    libmantissa.so, the headers that a program needs, MantissaConfig.cmake
#
# The library is one shared object, not archives: what is one per process (the fixed precision, the fallback of fp32 islands) must
# be there once, also when several modules of a program use it, and the third-party libraries behind it stay its own business.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

foreach(folder datasets docs icons lessons python models player presets samples texts translations)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/resources/${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/mantissa"
            COMPONENT programs OPTIONAL)
endforeach()

if(NOT MANTISSA_WITH_TORCH)
    return()
endif()

# LibTorch stays where it was found at build time: its folder goes into the run path of what needs it.
set_target_properties(mantissa-engine mantissa-library PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS mantissa-engine LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT programs)
install(TARGETS mantissa-library EXPORT MantissaTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)

set(_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Mantissa")
install(EXPORT MantissaTargets NAMESPACE Mantissa:: DESTINATION "${_package_folder}" COMPONENT library)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/MantissaConfig.cmake.in" "${CMAKE_BINARY_DIR}/MantissaConfig.cmake"
                              INSTALL_DESTINATION "${_package_folder}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/MantissaConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/MantissaConfig.cmake" "${CMAKE_BINARY_DIR}/MantissaConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/FindLibTorch.cmake" "${CMAKE_CURRENT_LIST_DIR}/MantissaCache.cmake"
        DESTINATION "${_package_folder}" COMPONENT library)

install(CODE "set(MANTISSA_HEADER_ROOTS \"${PROJECT_SOURCE_DIR}/core;${CMAKE_BINARY_DIR}/core/base/generated\")
              set(MANTISSA_HEADER_FOLDER \"${CMAKE_INSTALL_INCLUDEDIR}/mantissa\")" COMPONENT library)
install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake" COMPONENT library)
