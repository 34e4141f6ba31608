// SPDX-License-Identifier: MIT
//
// The one exception of the library: `comcp::error`, a `std::system_error` that also carries the whole `fault`. This is
// the place where faults of pure code become exceptions.
#pragma once

#include <comcp/result.hpp>

#include <system_error>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Thrown by every operation that did not end with a result. A tool that ran and failed is a result, not an error.
class error : public std::system_error
{
public:
    explicit error(comcp::fault what) : std::system_error(what.code, what.text), fault_(std::move(what)) {}

    /// What is known about the request: refused, not_sent or unknown.
    comcp::outcome outcome() const noexcept { return fault_.fate; }
    /// The peer's JSON-RPC error object, or null when the error is not the peer's.
    const rpc_error* rpc() const noexcept { return fault_.rpc.get(); }
    /// The HTTP status that failed, with its challenge, or null.
    const http_error* http() const noexcept { return fault_.http.get(); }
    /// The method of the request that failed; empty when there was none.
    const std::string& method() const noexcept { return fault_.method; }
    /// Its JSON-RPC id as text; empty when it was never sent.
    const std::string& request_id() const noexcept { return fault_.id; }
    /// The sentence alone, without the text of the code.
    const std::string& text() const noexcept { return fault_.text; }
    /// Everything as one value.
    const comcp::fault& fault() const noexcept { return fault_; }

private:
    comcp::fault fault_;
};

[[noreturn]] inline void throw_fault(comcp::fault what) { throw error(std::move(what)); }

} // namespace comcp::inline COMCP_ABI
