# mantissa_test(NAME SOURCES ... [USES part ...] [LIBRARIES ...] [LABEL unit|golden|faults|system|long|ui] [TORCH] [TIMEOUT s])
#
# GoogleTest program of one part. ctest starts each test case in a process of its own (design rule 10). Engine tests run with
# one OpenMP policy, so that they don't spin against each other.
function(mantissa_test name)
    cmake_parse_arguments(TEST "TORCH" "LABEL;TIMEOUT" "SOURCES;USES;LIBRARIES;ENVIRONMENT" ${ARGN})
    if(NOT TEST_LABEL)
        set(TEST_LABEL unit)
    endif()
    if(NOT TEST_TIMEOUT)
        set(TEST_TIMEOUT 120)
    endif()
    add_executable(${name} ${TEST_SOURCES})
    target_link_libraries(${name} PRIVATE mantissa_flags GTest::gtest GTest::gmock GTest::gtest_main
                          nlohmann_json::nlohmann_json ${TEST_LIBRARIES})
    foreach(used IN LISTS TEST_USES)
        target_link_libraries(${name} PRIVATE mantissa_${used})
    endforeach()
    if(TEST_TORCH)
        # The precompiled header was made with -fPIC; a program's usual -fPIE doesn't fit it.
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_compile_options(${name} PRIVATE -fPIC)
        target_link_libraries(${name} PRIVATE mantissa_torch)
        target_precompile_headers(${name} REUSE_FROM mantissa_torch_pch)
    endif()
    target_compile_definitions(${name} PRIVATE MANTISSA_TEST_DATA="${PROJECT_SOURCE_DIR}/tests"
                               MANTISSA_RESOURCES_DIR="${PROJECT_SOURCE_DIR}/resources")
    # The property ENVIRONMENT would keep the first of these alone: gtest_discover_tests splits lists once too often.
    set_target_properties(${name} PROPERTIES CROSSCOMPILING_EMULATOR
        "${CMAKE_COMMAND};-E;env;OMP_WAIT_POLICY=PASSIVE;OMP_NUM_THREADS=1;${TEST_ENVIRONMENT}")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}."
        PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT ${TEST_TIMEOUT})
endfunction()
