// SPDX-License-Identifier: MIT
//
// Who speaks in a prompt or in a conversation that is sampled. Not who sends a message on the wire.
#pragma once

#include <comcp/config.hpp>

#include <optional>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

enum class role {
    user,
    assistant,
};

constexpr std::string_view to_string(role value) noexcept { return value == role::user ? "user" : "assistant"; }

constexpr std::optional<role> parse_role(std::string_view text) noexcept
{
    if (text == "user") return role::user;
    if (text == "assistant") return role::assistant;
    return std::nullopt;
}

} // namespace comcp::inline COMCP_ABI
