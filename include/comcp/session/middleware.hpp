// SPDX-License-Identifier: MIT
//
// Coroutines of the host around every request and notification of a session, in both directions and on every
// transport. A chain runs in the order in which its parts were given, the first outermost. Not for watching bytes: that
// is the observer (observer.hpp), which costs less and changes nothing. What the library brings is in middleware/.
//
//     comcp::task<comcp::middleware_reply> only_at_work(comcp::middleware_message message, comcp::middleware_next next)
//     {
//         if (message.method == "tools/call" && closed()) throw comcp::request_error(-32000, "come again tomorrow");
//         auto going = next(std::move(message));
//         auto reply = co_await std::move(going);
//         co_return reply;
//     }
//     server.use(only_at_work);
#pragma once

#include <comcp/protocol/revision.hpp>
#include <comcp/result.hpp>
#include <comcp/session/request_error.hpp>
#include <comcp/task.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// Which way a message goes.
enum class direction {
    inbound,  ///< from the peer
    outbound, ///< to the peer
};

/// One request or notification on its way, with the context of the call. What is changed before `next` is what goes on.
class middleware_message
{
public:
    comcp::direction way = comcp::direction::inbound;
    bool is_request = true; ///< else a notification, whose reply is empty
    std::string method;
    std::string params; ///< JSON text of an object on one line; empty for none. A change must be valid JSON
    std::string id;     ///< of a request, as JSON text; a change has no effect

    revision version = latest_legacy; ///< what is spoken; the newest of the handshake era before that is known
    std::string peer;                 ///< the name that the peer gave itself (unverified); empty before the handshake
    std::string principal;            ///< who the host's authorization says the peer is; empty: nobody in particular

    middleware_message() = default;
};

/// What came of a request: a result, or an error that the peer gave. Empty for a notification.
class middleware_reply
{
public:
    std::string result; ///< JSON text of an object. A change must be valid JSON
    std::optional<rpc_error> error;

    middleware_reply() = default;
    explicit middleware_reply(std::string object) : result(std::move(object)) {}
    explicit middleware_reply(rpc_error refused) : error(std::move(refused)) {}
};

class middleware_next;

/// One part of a chain. It runs on the session's executor and must not block it; of one session there may be as many at
/// once as requests are in flight, but notifications come one at a time and in order, each way.
///
/// It may answer a request without `next`; a notification that it does not pass on is dropped. What it throws ends that
/// message alone: inbound, `comcp::request_error` is the answer, any other exception an internal error with a fixed
/// text; outbound, the caller gets it.
///
/// *Cancellation*: the peer (inbound) or the caller (outbound) gave the request up, its time is over, or the session
/// ended.
using middleware = std::function<task<middleware_reply>(middleware_message, middleware_next)>;

namespace detail
{

using middleware_chain = std::vector<middleware>;

/// One message in one chain; what comes after the last part is in `arrive`.
class chain_run
{
public:
    explicit chain_run(std::shared_ptr<const middleware_chain> parts) : parts_(std::move(parts)) {}
    chain_run(const chain_run&) = delete;
    chain_run& operator=(const chain_run&) = delete;
    virtual ~chain_run() = default;

    /// Sends the message through the chain. *Errors*: what a part throws.
    static task<middleware_reply> start(std::shared_ptr<chain_run> self, middleware_message message);

private:
    friend class comcp::middleware_next;

    static task<middleware_reply> go_on(std::shared_ptr<chain_run> self, std::size_t at, middleware_message message);
    virtual task<middleware_reply> arrive(middleware_message message) = 0;

    std::shared_ptr<const middleware_chain> parts_;
    std::size_t passed_ = 0; // no part is passed twice: nothing runs twice
};

} // namespace detail

/// The rest of the chain.
class middleware_next
{
public:
    middleware_next(std::shared_ptr<detail::chain_run> run, std::size_t at) : run_(std::move(run)), at_(at) {}

    /// Sends the message on, once.
    ///
    /// *Result*: the reply, an error of the peer included; an empty one for a notification.
    /// *Errors*: `comcp::error` when there is no reply (timed out, the peer is gone, closed, cancelled);
    /// errc::invalid_argument for a second time.
    task<middleware_reply> operator()(middleware_message message) const
    {
        return detail::chain_run::go_on(run_, at_, std::move(message));
    }

private:
    std::shared_ptr<detail::chain_run> run_;
    std::size_t at_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/session/impl/middleware.ipp>
#endif
