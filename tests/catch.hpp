// SPDX-License-Identifier: MIT
// Catch2, whichever of its two generations is installed. Tests include this and not Catch2 itself.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define COMCP_TEST_CATCH 3
#else
#include <catch2/catch.hpp>
#define COMCP_TEST_CATCH 2
#endif
