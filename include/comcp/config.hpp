// SPDX-License-Identifier: MIT
//
// Names that every header needs: the inline ABI namespace and the JSON library's short name. Not for options that
// change behaviour: those are run-time limits (limits.hpp) and policies (policy.hpp).
#pragma once

#include <comcp/version.hpp>

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "comcp needs C++20"
#endif

// A program that mixes two versions of comcp, or two Asio backends, must fail to link instead of failing at night:
// all names stand in an inline namespace that spells both.
#if defined(COMCP_USE_BOOST_ASIO)
#define COMCP_ABI v0_1_boost_asio
#else
#define COMCP_ABI v0_1_asio
#endif

// Bodies that are not templates stand in impl/*.ipp beside their headers. By default they are inline, and every file
// compiles them. With COMCP_SEPARATE (which the CMake target comcp::src and the single include set) headers only
// declare them, and the one file that includes <comcp/src.hpp> compiles them once.
#if defined(COMCP_SEPARATE)
#define COMCP_DECL
#else
#define COMCP_DECL inline
#endif

namespace boost::json
{}

namespace comcp::inline COMCP_ABI
{
namespace json = boost::json;
}
