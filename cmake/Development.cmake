# SPDX-License-Identifier: MIT
# Settings for work on comcp itself; a project that adds comcp as a subdirectory does not get them.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(COMCP_CCACHE ccache)
mark_as_advanced(COMCP_CCACHE)
if(COMCP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness is what ccache needs to cache units that use a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${COMCP_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER "${COMCP_CCACHE}")
endif()

# Link this to a program of our own for the warnings that all of our code must pass.
add_library(comcp_warnings INTERFACE)
target_compile_options(comcp_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(comcp_warnings INTERFACE -Wno-restrict) # false alarms on std::string in g++ 12
        # And on coroutine frames: it inlines one of Asio's pair of operators and misses the other.
        target_compile_options(comcp_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete>)
    endif()
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
        target_compile_options(comcp_warnings INTERFACE -Wno-maybe-uninitialized) # false alarms with sanitizers
    endif()
    target_compile_options(comcp_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>) # for ccache
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(comcp_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Programs that are not tests: examples, benchmarks and the fixtures of the tests.
add_custom_target(comcp_programs)

# comcp_add_program(TARGET NAME SOURCE...): one executable bin/NAME with our warnings, linked to comcp::src.
function(comcp_add_program target name)
    add_executable(${target} ${ARGN})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
    target_link_libraries(${target} PRIVATE comcp::src comcp_warnings)
endfunction()

# comcp_add_run(TEST TARGET LABEL SOURCE): ctest runs the program in the folder of the programs, without input.
# A line `// ctest: ARGUMENT...` in the source gives its arguments; `// ctest: none` means that it is not run. A line
# `// expect: REGEX` says what its output must match.
function(comcp_add_run test target label source)
    file(STRINGS "${source}" lines REGEX "^// ctest:" LIMIT_COUNT 1)
    set(arguments "")
    if(lines MATCHES "^// ctest:(.*)$")
        string(STRIP "${CMAKE_MATCH_1}" arguments)
        if(arguments STREQUAL "none")
            return()
        endif()
        separate_arguments(arguments UNIX_COMMAND "${arguments}")
    endif()
    set(command ${target} ${arguments})
    file(STRINGS "${source}" expected REGEX "^// expect:" LIMIT_COUNT 1)
    if(expected)
        set(command "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${target}>" "-DARGUMENTS=${arguments}"
                    "-DSOURCE=${source}" -P "${PROJECT_SOURCE_DIR}/cmake/expect.cmake")
    endif()
    add_test(NAME ${test} COMMAND ${command} WORKING_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 120)
endfunction()
