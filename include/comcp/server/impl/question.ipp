// SPDX-License-Identifier: MIT
//
// How a handler's request is sent and its progress told: see server/question.hpp.
#pragma once

#include <comcp/rpc/id.hpp>
#include <comcp/server/question.hpp>
#include <comcp/session/json_call.hpp>

#include <memory>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void progress_relay::tell(const progress& notice) const
{
    try {
        tell_(notice);
    } catch (...) { // it has only itself to blame
    }
}

COMCP_DECL void progress_relay::pass(const progress& notice)
{
    if (!on_) return tell(notice);
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    const bool waits = newest_.has_value();
    newest_ = notice;
    if (!waits) asio::post(on_, [self = shared_from_this()] { self->deliver(); });
}

COMCP_DECL void progress_relay::deliver()
{
    std::optional<progress> notice;
    {
        const std::lock_guard lock(mutex_);
        notice = std::exchange(newest_, std::nullopt);
        if (ended_) return;
    }
    if (notice) tell(*notice);
}

COMCP_DECL void progress_relay::end()
{
    const std::lock_guard lock(mutex_);
    ended_ = true;
}

/// While it waits.
class question final : public json_call
{
public:
    question(session& in, std::string_view method, const params_writer& write, bool keep_source,
             std::shared_ptr<progress_relay> relay)
        : json_call(in, method, keep_source),
          write_(write),
          relay_(std::move(relay))
    {}

private:
    void write_params(std::string& out) const override
    {
        const progress_token token(id());
        write_(out, relay_ ? &token : nullptr);
    }

    void on_progress(const progress& notice) override
    {
        if (relay_) relay_->pass(notice);
    }

    const params_writer& write_;
    std::shared_ptr<progress_relay> relay_;
};

COMCP_DECL task<json_result> ask_client(std::shared_ptr<session> self, std::string_view method, params_writer write,
                                        duration within, bool keep_source, std::shared_ptr<inbound> for_call,
                                        std::shared_ptr<progress_relay> relay)
{
    if (!for_call->open()) throw error(fail(errc::closed, "the call that asks has ended"));
    question asked(*self, method, write, keep_source, std::move(relay));
    asked.relates_to(for_call->route().exchange);
    const call_timeouts times{within, within};
    co_await session::perform(self, asked, times);
    co_return asked.take();
}

} // namespace comcp::inline COMCP_ABI::detail
