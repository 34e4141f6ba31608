// SPDX-License-Identifier: MIT
//
// The completers of one prompt or resource template, by the argument that they complete.
#pragma once

#include <comcp/protocol/completion.hpp>
#include <comcp/server/handler_call.hpp>
#include <comcp/server/prompt.hpp>

#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class completers
{
public:
    /// Replaces the one that there is for the argument.
    void set(std::string argument, erased_handler completer);
    bool empty() const { return all_.empty(); }
    bool blocks() const;

    /// Answers a request whose argument exists; without a completer there are no suggestions.
    void complete(const handler_call& call, const completion_request& asked) const;

private:
    std::vector<std::pair<std::string, erased_handler>> all_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/completers.ipp>
#endif
