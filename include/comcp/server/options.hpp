// SPDX-License-Identifier: MIT
//
// What a server is told beforehand.
#pragma once

#include <comcp/limits.hpp>

#include <string>

namespace comcp::inline COMCP_ABI
{

/// Options of a server; all may be set until the first session starts.
struct server_options
{
    comcp::limits limits;
    /// For the model: how to use this server (2025-11-25, lifecycle). Empty: none.
    std::string instructions;
    /// Keeps the text of every call's arguments for `context::arguments_source`, counted in the limits.
    bool keep_source = false;
};

} // namespace comcp::inline COMCP_ABI
