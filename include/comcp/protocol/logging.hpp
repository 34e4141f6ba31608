// SPDX-License-Identifier: MIT
//
// Log messages of a server for its client (G-40). Not the library's own log: that is an observer (observer.hpp).
#pragma once

#include <comcp/protocol/read.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// The levels of RFC 5424, from the least to the most severe.
enum class log_level {
    debug,
    info,
    notice,
    warning,
    error,
    critical,
    alert,
    emergency,
};

inline constexpr std::array all_log_levels = {log_level::debug,   log_level::info,     log_level::notice,
                                              log_level::warning, log_level::error,    log_level::critical,
                                              log_level::alert,   log_level::emergency};

constexpr std::string_view to_string(log_level level) noexcept
{
    constexpr std::string_view names[] = {"debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency"};
    return names[static_cast<std::size_t>(level)];
}

constexpr std::optional<log_level> parse_log_level(std::string_view text) noexcept
{
    for (log_level level : all_log_levels) {
        if (to_string(level) == text) return level;
    }
    return std::nullopt;
}

/// One message. `logger` is empty when it was not given.
struct log_message
{
    log_level level = log_level::info;
    std::string logger;
    json::value data;
    json::object extra{}; ///< members that are not listed here, `_meta` among them
};

/// Reads the params of notifications/message. A level that is not known reads as `info`: the text matters more.
log_message read_log_message(const json::object& from);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/logging.ipp>
#endif
