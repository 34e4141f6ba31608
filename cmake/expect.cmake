# SPDX-License-Identifier: MIT
# Runs a program without input, for ctest: it must exit with 0, and its output must match the line `// expect: REGEX` of
# its source. (The property PASS_REGULAR_EXPRESSION of a test would let every exit status pass.)
#   cmake -DPROGRAM=... -DARGUMENTS=... -DSOURCE=... -P expect.cmake
file(STRINGS "${SOURCE}" line REGEX "^// expect:" LIMIT_COUNT 1)
string(REGEX REPLACE "^// expect: *" "" expected "${line}")
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} INPUT_FILE /dev/null OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE
                RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "it ended with ${status}")
endif()
if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "its output does not match: ${expected}")
endif()
