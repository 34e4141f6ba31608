// SPDX-License-Identifier: MIT
//
// The codec of the legacy era, 2024-11-05 to 2025-11-25. What a revision does not have is not sent to it: members are
// left out, and blocks that it lacks become text (F-4, F-10). The handshake is in wire/handshake.hpp.
#pragma once

#include <comcp/protocol/methods.hpp>
#include <comcp/wire/codec.hpp>

#include <array>

namespace comcp::inline COMCP_ABI::wire
{

/// The methods of the legacy era (B-14, B-15, B-16), the busiest first because a look-up goes from the top.
inline constexpr auto legacy_methods = [] {
    using enum revision;
    using enum sender;
    using enum kind;
    constexpr revision first = r2024_11_05;
    constexpr revision last = r2025_11_25;
    return std::to_array<method_info>({
        {method::tools_call, request, client, first, last, "tools", ""},
        {method::progress, notification, either, first, last, "", ""},
        {method::cancelled, notification, either, first, last, "", ""},
        {method::message, notification, server, first, last, "logging", ""},
        {method::ping, request, either, first, last, "", ""},
        {method::initialize, request, client, first, last, "", ""},
        {method::initialized, notification, client, first, last, "", ""},
        {method::tools_list, request, client, first, last, "tools", ""},
        {method::tools_list_changed, notification, server, first, last, "tools", "listChanged"},
        {method::resources_list, request, client, first, last, "resources", ""},
        {method::resources_templates_list, request, client, first, last, "resources", ""},
        {method::resources_read, request, client, first, last, "resources", ""},
        {method::resources_subscribe, request, client, first, last, "resources", "subscribe"},
        {method::resources_unsubscribe, request, client, first, last, "resources", "subscribe"},
        {method::resources_list_changed, notification, server, first, last, "resources", "listChanged"},
        {method::resources_updated, notification, server, first, last, "resources", "subscribe"},
        {method::prompts_list, request, client, first, last, "prompts", ""},
        {method::prompts_get, request, client, first, last, "prompts", ""},
        {method::prompts_list_changed, notification, server, first, last, "prompts", "listChanged"},
        {method::completion_complete, request, client, first, first, "", ""}, // no capability existed (B-8)
        {method::completion_complete, request, client, r2025_03_26, last, "completions", ""},
        {method::logging_set_level, request, client, first, last, "logging", ""},
        {method::roots_list, request, server, first, last, "roots", ""},
        {method::roots_list_changed, notification, client, first, last, "roots", "listChanged"},
        {method::sampling_create_message, request, server, first, last, "sampling", ""},
        {method::elicitation_create, request, server, r2025_06_18, last, "elicitation", ""},
        {method::elicitation_complete, notification, server, r2025_11_25, last, "", ""},
        {method::tasks_get, request, either, r2025_11_25, last, "tasks", ""},
        {method::tasks_result, request, either, r2025_11_25, last, "tasks", ""},
        {method::tasks_cancel, request, either, r2025_11_25, last, "tasks", "cancel"},
        {method::tasks_list, request, either, r2025_11_25, last, "tasks", "list"},
        {method::tasks_status, notification, either, r2025_11_25, last, "tasks", ""},
    });
}();

/// The codec of all revisions with a handshake.
const codec& legacy_codec() noexcept;

} // namespace comcp::inline COMCP_ABI::wire

#if !defined(COMCP_SEPARATE)
#include <comcp/wire/impl/legacy.ipp>
#include <comcp/wire/impl/legacy_content.ipp>
#include <comcp/wire/impl/legacy_requests.ipp>
#endif
