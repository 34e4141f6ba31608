// SPDX-License-Identifier: MIT
//
// A request of a handler to its client on its way: params with a progress token when progress is wanted, and progress
// on its way to the handler's executor.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/json/result.hpp>
#include <comcp/protocol/progress.hpp>
#include <comcp/session/session.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// Takes progress from the session's executor to the handler's.
class progress_relay : public std::enable_shared_from_this<progress_relay>
{
public:
    using callback = std::function<void(const progress&)>;

    /// An empty executor: the handler runs where the session does.
    progress_relay(callback tell, comcp::executor on) : tell_(std::move(tell)), on_(std::move(on)) {}

    /// On the session's executor.
    void pass(const progress& notice);
    /// The request has ended: nothing more is told. On the handler's executor.
    void end();

private:
    void deliver();
    void tell(const progress& notice) const;

    callback tell_;
    comcp::executor on_;
    std::mutex mutex_;
    std::optional<progress> newest_; // waits for the handler's executor
    bool ended_ = false;
};

/// Ends a relay with the frame that it stands in.
struct end_of_relay
{
    explicit end_of_relay(std::shared_ptr<progress_relay> of) : relay(std::move(of)) {}
    end_of_relay(const end_of_relay&) = delete;
    ~end_of_relay()
    {
        if (relay) relay->end();
    }
    std::shared_ptr<progress_relay> relay;
};

/// Appends the params of a request; the token may be null.
using params_writer = std::function<void(std::string& out, const progress_token* token)>;

/// Asks the client on the session's executor, on the exchange of `for_call`, the call that asks (B-18).
task<json_result> ask_client(std::shared_ptr<session> self, std::string_view method, params_writer write,
                             duration within, bool keep_source, std::shared_ptr<inbound> for_call,
                             std::shared_ptr<progress_relay> relay);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/question.ipp>
#endif
