// SPDX-License-Identifier: MIT
//
// What another process needs to go on with a session, as a text for a session store. Nothing of calls: they do not
// move.
#pragma once

#include <comcp/protocol/capabilities.hpp>
#include <comcp/protocol/identity.hpp>
#include <comcp/protocol/logging.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

struct session_record
{
    std::string id;
    std::string principal;
    /// How many processes had the session so far, at least.
    std::int64_t generation = 1;
    revision version = latest_legacy;
    client_capabilities capabilities;
    identity client;
    log_level level = log_level::info;
    std::vector<std::string> subscriptions; ///< URIs

    static constexpr std::size_t most_bytes = 1024 * 1024;
    static constexpr std::int64_t most_generations = std::int64_t{1} << 20;
};

/// A session that is kept outside of its process, as its role sees it. Thread rule: the session's executor.
class kept_state
{
public:
    kept_state() = default;
    kept_state(const kept_state&) = delete;
    kept_state& operator=(const kept_state&) = delete;

    session_record record;
    /// The record is that of another process's session, to go on with.
    bool taken = false;

    /// The record is no longer what was kept.
    virtual void changed() = 0;

protected:
    ~kept_state() = default;
};

std::string write_session_record(const session_record& from);

/// Members that are not known are passed over. *Errors*: a text that is too long, is no record, or is one of another
/// version of the format.
result<session_record> read_session_record(std::string_view text);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/session_record.ipp>
#endif
