// SPDX-License-Identifier: MIT
//
// How a message goes from one part of a chain to the next: see session/middleware.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/session/middleware.hpp>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL task<middleware_reply> chain_run::start(std::shared_ptr<chain_run> self, middleware_message message)
{
    return go_on(std::move(self), 0, std::move(message));
}

COMCP_DECL task<middleware_reply> chain_run::go_on(std::shared_ptr<chain_run> self, std::size_t at,
                                                   middleware_message message)
{
    if (at < self->passed_) throw error(fail(errc::invalid_argument, "a message goes on only once"));
    self->passed_ = at + 1;
    const bool last = at == self->parts_->size();
    task<middleware_reply> going = last ? self->arrive(std::move(message))
                                        : (*self->parts_)[at](std::move(message), middleware_next(self, at + 1));
    co_return co_await std::move(going);
}

} // namespace comcp::inline COMCP_ABI::detail
