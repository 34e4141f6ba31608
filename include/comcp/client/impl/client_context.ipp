// SPDX-License-Identifier: MIT
//
// What a client's handler can do: see client/client_context.hpp.
#pragma once

#include <comcp/client/client_context.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/session/session.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL client_context::client_context(std::shared_ptr<const detail::agreement> session,
                                          std::shared_ptr<detail::inbound> request, json::object meta)
    : session_(std::move(session)),
      request_(std::move(request)),
      meta_(std::move(meta))
{}

COMCP_DECL bool client_context::cancelled() const { return request_->cancelled(); }
COMCP_DECL std::string client_context::request_id() const { return std::string(request_->id().text()); }

COMCP_DECL void client_context::progress(double value, std::optional<double> total, std::string message)
{
    detail::session* const owner = request_->owner();
    if (!owner || !request_->token || !std::isfinite(value)) return; // JSON has no word for what is not finite
    comcp::progress notice;
    notice.value = value;
    if (total && std::isfinite(*total)) notice.total = total;
    notice.message = std::move(message);
    owner->notify_progress(*request_, value, [&](std::string& out) {
        owner->codec().write_progress_params(out, *request_->token, notice, owner->spoken());
    });
}

} // namespace comcp::inline COMCP_ABI
