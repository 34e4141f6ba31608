// SPDX-License-Identifier: MIT
//
// What a server is told beforehand.
#pragma once

#include <comcp/limits.hpp>

#include <cstddef>
#include <limits>
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

    // What a server offers is declared once, in the handshake. Tools always are; of the others what is there by then,
    // and what is promised here for later.

    bool offer_resources = false;
    bool offer_prompts = false;
    bool offer_completions = false;
    /// Clients may subscribe to resources (`server.resource_updated`).
    bool subscriptions = true;

    /// The most items of one page of a list.
    std::size_t page_items = std::numeric_limits<std::size_t>::max();
    /// A page ends with the item that reaches this many bytes.
    std::size_t page_bytes = 1024 * 1024;
};

} // namespace comcp::inline COMCP_ABI
