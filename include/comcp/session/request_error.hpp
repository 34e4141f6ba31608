// SPDX-License-Identifier: MIT
//
// A refusal that a handler of the host throws, to be answered as a JSON-RPC error.
#pragma once

#include <comcp/result.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Thrown by a handler of a client (sampling, elicitation) or of a server: the peer gets this code and message. Any
/// other exception is answered with a fixed text; for those that a server's handler can throw see
/// server/handler_error.hpp.
class request_error : public std::runtime_error
{
public:
    request_error(std::int64_t code, const std::string& message) : std::runtime_error(message), code_(code) {}

    std::int64_t code() const noexcept { return code_; }

private:
    std::int64_t code_;
};

/// The user refuses what the server asks of the model: `throw comcp::user_rejected()` (2025-11-25, sampling: code -1).
inline request_error user_rejected(const std::string& message = "the user rejected the request")
{
    return request_error(-1, message);
}

} // namespace comcp::inline COMCP_ABI
