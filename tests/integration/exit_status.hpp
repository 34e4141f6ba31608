// SPDX-License-Identifier: MIT
// How Catch2 prints the end of a process.
#pragma once

#include <comcp/transport/exit_status.hpp>

#include "catch.hpp"

#include <string>

template <>
struct Catch::StringMaker<comcp::exit_status>
{
    static std::string convert(const comcp::exit_status& status) { return status.text(); }
};
