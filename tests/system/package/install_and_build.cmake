# BUILD, SOURCE: this project. FOLDER: what is made anew here: prefix (installed), examples (built against it).
function(run what)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${what} ended with ${code}:\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
run("the installation" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/prefix")
# Nothing of the source tree may be needed: headers of ours come from the prefix, or the build below fails.
file(COPY "${SOURCE}/core/examples" DESTINATION "${FOLDER}/source")
run("the configuration of the examples" "${CMAKE_COMMAND}" -S "${FOLDER}/source/examples" -B "${FOLDER}/examples" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release)
run("the build of the examples" "${CMAKE_COMMAND}" --build "${FOLDER}/examples")

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}/examples" --target misuse_at_compile_time
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
    message(FATAL_ERROR "the mistakes of misuse_at_compile_time.cpp compile")
endif()
file(WRITE "${FOLDER}/compile_time.txt" "${output}")
