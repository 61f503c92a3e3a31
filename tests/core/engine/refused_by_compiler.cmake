# cmake -DCOMMANDS=compile_commands.json -DSOURCE=file.cpp -P …: compiles SOURCE as the build would and expects every sentence.
file(READ "${COMMANDS}" commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
set(command "")
foreach(i RANGE ${last})
    string(JSON file GET "${commands}" ${i} file)
    if(file STREQUAL SOURCE)
        string(JSON command GET "${commands}" ${i} command)
        string(JSON folder GET "${commands}" ${i} directory)
    endif()
endforeach()
if(command STREQUAL "")
    message(FATAL_ERROR "${SOURCE} is not in ${COMMANDS}")
endif()
string(REGEX REPLACE " -MD -MT [^ ]+ -MF [^ ]+" "" command "${command}")
separate_arguments(command UNIX_COMMAND "${command}")
execute_process(COMMAND ${command} -fsyntax-only WORKING_DIRECTORY "${folder}" RESULT_VARIABLE result
                OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiled: nothing was refused")
endif()
set(missing "")
foreach(sentence
        "prepare() takes over its objects: pass them with std::move()"
        "prepare() was given a torch::optim optimizer"
        "prepare() was given a torch learning-rate scheduler"
        "prepare() was given a torch::data loader"
        "prepare() was given a LossScaler"
        "prepare() was given a module by value"
        "prepare() wants as many values of device_placement as objects"
        "prepare() needs at least one object")
    string(FIND "${said}" "${sentence}" place)
    if(place EQUAL -1)
        string(APPEND missing "\n  ${sentence}")
    endif()
endforeach()
if(NOT missing STREQUAL "")
    message(FATAL_ERROR "the compiler didn't say:${missing}\nIt said:\n${said}")
endif()
