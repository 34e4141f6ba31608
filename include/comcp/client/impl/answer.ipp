// SPDX-License-Identifier: MIT
//
// The text of an answer: see client/answer.hpp.
#pragma once

#include <comcp/client/answer.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL std::string to_text(const answer& of, unsafe_integers how)
{
    auto text = of.cap().apply(flatten(of, how));
    if (text) return std::move(*text);
    fault refused = text.error();
    refused.fate = of.outcome(); // the call itself has ended
    throw_fault(std::move(refused));
}

} // namespace comcp::inline COMCP_ABI
