# SPDX-License-Identifier: MIT
# Finds the standalone Asio headers, which come without a CMake package. Defines Asio::Asio.
find_path(Asio_INCLUDE_DIR NAMES asio/awaitable.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)

if(Asio_INCLUDE_DIR AND EXISTS "${Asio_INCLUDE_DIR}/asio/version.hpp")
    file(STRINGS "${Asio_INCLUDE_DIR}/asio/version.hpp" Asio_version_line REGEX "^#define ASIO_VERSION [0-9]+")
    if(Asio_version_line MATCHES "ASIO_VERSION ([0-9]+)")
        math(EXPR Asio_major "${CMAKE_MATCH_1} / 100000")
        math(EXPR Asio_minor "${CMAKE_MATCH_1} / 100 % 1000")
        math(EXPR Asio_patch "${CMAKE_MATCH_1} % 100")
        set(Asio_VERSION "${Asio_major}.${Asio_minor}.${Asio_patch}")
    endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS Asio_INCLUDE_DIR VERSION_VAR Asio_VERSION)

if(Asio_FOUND AND NOT TARGET Asio::Asio)
    find_package(Threads REQUIRED)
    add_library(Asio::Asio INTERFACE IMPORTED)
    set_target_properties(
        Asio::Asio PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Asio_INCLUDE_DIR}"
                              INTERFACE_COMPILE_DEFINITIONS ASIO_STANDALONE
                              INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
