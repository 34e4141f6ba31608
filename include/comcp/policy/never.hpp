// SPDX-License-Identifier: MIT
//
// The policy that gives up at once. It fits the slots `reconnect` (a lost connection stays lost, and a stream that a
// server closes only for a while is not resumed either) and `replay` (no request is sent twice, not even one that was
// never sent).
#pragma once

#include <comcp/limits.hpp>

#include <optional>

namespace comcp::inline COMCP_ABI
{

struct reconnect_facts; // policy/reconnect.hpp
struct replay_facts;    // policy/replay.hpp

namespace policy
{

struct never
{
    std::optional<duration> delay(const reconnect_facts&) const noexcept { return std::nullopt; }
    bool resend(const replay_facts&) const noexcept { return false; }
};

} // namespace policy
} // namespace comcp::inline COMCP_ABI
