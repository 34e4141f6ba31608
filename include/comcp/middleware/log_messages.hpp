// SPDX-License-Identifier: MIT
//
// Middleware: one line for each message that passed, when it has ended. For people and grep; counters are timing.hpp.
//
//     server.use(comcp::log_messages([](std::string_view line) { std::clog << line << '\n'; }));
//
//     inbound request "tools/call" id=7 peer="inspector" principal="ada" 12.301ms ok
#pragma once

#include <comcp/middleware/redact.hpp>
#include <comcp/session/middleware.hpp>

#include <functional>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// What log_messages writes beside the fixed part of a line: nothing, unless it is asked for.
class log_messages_options
{
public:
    /// Adds `params=`, as they came to this part.
    log_messages_options& params(bool value = true)
    {
        params_ = value;
        return *this;
    }
    /// Adds `result=`, or the data of an error.
    log_messages_options& results(bool value = true)
    {
        results_ = value;
        return *this;
    }
    /// What of them is secret, and how many bytes of each are shown: 1,000 by default.
    log_messages_options& redact(redaction how)
    {
        redaction_ = std::move(how);
        return *this;
    }

    // For the library.
    bool with_params() const { return params_; }
    bool with_results() const { return results_; }
    const redaction& how() const { return redaction_; }

private:
    bool params_ = false;
    bool results_ = false;
    redaction redaction_;
};

/// `sink` gets a line without its end, on the executor of the session, and must not block it; what it throws is
/// dropped. Whatever peers write is quoted, escaped and cut: nobody can make up a line.
middleware log_messages(std::function<void(std::string_view line)> sink, log_messages_options options = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/middleware/impl/log_messages.ipp>
#endif
