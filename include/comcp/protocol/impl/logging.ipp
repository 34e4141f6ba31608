// SPDX-License-Identifier: MIT
//
// Reading log messages: see protocol/logging.hpp.
#pragma once

#include <comcp/protocol/logging.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL log_message read_log_message(const json::object& from)
{
    log_message read;
    const std::string_view level = string_member(from, "level").value_or(std::string_view());
    read.level = parse_log_level(level).value_or(log_level::info);
    read.logger = detail::text_member(from, "logger");
    if (const json::value* data = member(from, "data")) read.data = detail::owned(*data);
    read.extra = detail::unknown_members(from, {"level", "logger", "data"});
    return read;
}

} // namespace comcp::inline COMCP_ABI
