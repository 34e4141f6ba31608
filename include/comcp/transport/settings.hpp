// SPDX-License-Identifier: MIT
//
// What a client tells the transport that is made for it. Each description of a server (`child_process`,
// `streamable_http`, one of the host) comes with a function that makes its transport:
//
//     std::unique_ptr<transport> make_transport(const my_server&, const transport_settings&);
#pragma once

#include <comcp/detail/random.hpp>
#include <comcp/limits.hpp>
#include <comcp/policy/reconnect.hpp>

#include <chrono>
#include <functional>
#include <optional>

namespace comcp::inline COMCP_ABI
{

struct transport_settings
{
    comcp::limits limits;
    /// The time for one connection, where a transport makes several.
    duration connect = std::chrono::seconds(20);
    /// The delay before a stream that was lost is opened again, or nothing to give up; empty: always give up.
    std::function<std::optional<duration>(const reconnect_facts&)> reconnect;
    detail::random_source random = ::getrandom;
};

} // namespace comcp::inline COMCP_ABI
