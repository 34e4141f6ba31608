// SPDX-License-Identifier: MIT
//
// What an HTTP service is told beforehand: whom it serves, how sessions are kept, and its limits.
#pragma once

#include <comcp/detail/random.hpp>
#include <comcp/http/guard.hpp>
#include <comcp/http/service.hpp>
#include <comcp/http/service_limits.hpp>
#include <comcp/policy/timeouts.hpp>
#include <comcp/server/session_store.hpp>
#include <comcp/task.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// What the host's authorization says of a request.
class http_access
{
public:
    /// It may go on. The principal is who sends it: sessions are bound to it (K-9). Empty: nobody in particular.
    static http_access allow(std::string principal = {})
    {
        http_access out;
        out.principal_ = std::move(principal);
        return out;
    }
    /// It is answered with this, such as a 401 with WWW-Authenticate.
    static http_access refuse(http::response answer)
    {
        http_access out;
        out.refusal_.emplace(std::move(answer));
        return out;
    }

    bool allowed() const { return !refusal_; }

    // For the library.
    std::string& principal() { return principal_; }
    http::response& refusal() { return *refusal_; }

private:
    std::string principal_;
    std::optional<http::response> refusal_;
};

namespace detail
{

/// A plain function or a coroutine that judges the head of a request.
class http_authorizer
{
public:
    http_authorizer() = default;

    template <class F>
        requires std::invocable<F&, const http::request&> && (!std::same_as<std::decay_t<F>, http_authorizer>)
    explicit http_authorizer(F function)
    {
        using returned = std::invoke_result_t<F&, const http::request&>;
        static_assert(std::same_as<returned, http_access> || std::same_as<returned, task<http_access>>,
                      "comcp: authorize takes a function that returns http_access, or a task of it");
        if constexpr (std::same_as<returned, task<http_access>>) slow_ = std::move(function);
        else plain_ = std::move(function);
    }

    explicit operator bool() const { return plain_ || slow_; }
    bool is_plain() const { return static_cast<bool>(plain_); }
    http_access call(const http::request& head) const { return plain_(head); }
    task<http_access> call_slow(const http::request& head) const { return slow_(head); }

private:
    std::function<http_access(const http::request&)> plain_;
    std::function<task<http_access>(const http::request&)> slow_;
};

} // namespace detail

/// The two endpoints of the old HTTP+SSE transport; none when the paths are empty.
struct old_sse_paths
{
    std::string stream;
    std::string messages;
    std::string announced; ///< what clients are told instead of `messages`
};

/// Options of an HTTP service, set before it is made.
class http_service_options
{
public:
    http_service_limits limits;
    /// Path, hosts and origins. Which methods and versions there are is the service's own affair.
    http::guard_settings guard;

    /// The path of the endpoint; default "/mcp".
    http_service_options& path(std::string text)
    {
        guard.path = std::move(text);
        return *this;
    }
    /// Lets clients reach the endpoint by this host, with a port or with any; loopback names are allowed anyway.
    http_service_options& allow_host(std::string host)
    {
        guard.hosts.push_back(std::move(host));
        return *this;
    }
    /// Lets pages of this origin call it: "https://app.example.com".
    http_service_options& allow_origin(std::string origin)
    {
        guard.origins.push_back(std::move(origin));
        return *this;
    }

    /// Asked about the head of every request, after path, host and origin: a function of `const http::request&` that
    /// returns `http_access`, or a coroutine returning `task<http_access>`. What it throws is answered with 500. May be
    /// called on several threads at once where the service is.
    template <class F>
    http_service_options& authorize(F judge)
    {
        authorize_ = detail::http_authorizer(std::move(judge));
        return *this;
    }

    /// One thread runs everything that the service and its callers do: no strands, and no hops between them.
    http_service_options& single_threaded(bool on = true)
    {
        single_threaded_ = on;
        return *this;
    }
    /// False: stateless. No session ids; every POST stands for itself, GET and DELETE are answered with 405, and a
    /// handler cannot ask its client anything.
    http_service_options& sessions(bool on)
    {
        sessions_ = on;
        return *this;
    }
    /// Keeps sessions outside of the process as well (server/session_store.hpp), so that another one can go on with
    /// them: what was agreed, who the client is, its log level and subscriptions, and the events that it may have
    /// missed. Calls that run do not move. Without it, sessions are kept in memory only.
    http_service_options& sessions(session_store& in)
    {
        sessions_ = true;
        store_ = &in;
        return *this;
    }
    /// False: streams have no event ids, and a connection that breaks loses what it did not get.
    http_service_options& resumable(bool on)
    {
        resumable_ = on;
        return *this;
    }
    /// When a client is told to connect again after its connection broke (E-36); `no_limit` says nothing.
    /// *Errors*: errc::invalid_argument for zero.
    http_service_options& retry(duration after)
    {
        retry_ = policy::checked_limit(after);
        return *this;
    }

    /// Also serves clients of the HTTP+SSE transport of 2024-11-05, at two more paths: GET of `stream` opens a session,
    /// whose messages are posted to `messages`. Host, Origin, authorization, sessions and limits are as at the
    /// endpoint; the session ends with its stream, so it is never in a session store: without its stream nothing is
    /// left that another process could go on with. Clients are told `messages`, or `announced` where somebody in front
    /// changes paths: "/api/messages", or a whole URL.
    /// *Errors*: errc::invalid_argument, when the service is made, for paths that do not begin with '/', have a query,
    /// or are not different from each other and from that of the endpoint.
    http_service_options& old_sse(std::string stream = "/sse", std::string messages = "/messages",
                                  std::string announced = {})
    {
        old_ = {std::move(stream), std::move(messages), std::move(announced)};
        if (old_.announced.empty()) old_.announced = old_.messages;
        return *this;
    }

    // For the library.
    detail::random_source random = ::getrandom; ///< of ids of sessions and the like
    const old_sse_paths& old_paths() const { return old_; }
    const detail::http_authorizer& authorizer() const { return authorize_; }
    bool is_single_threaded() const { return single_threaded_; }
    bool has_sessions() const { return sessions_; }
    session_store* store() const { return sessions_ ? store_ : nullptr; }
    bool is_resumable() const { return resumable_; }
    duration retry_after() const { return retry_; }

private:
    detail::http_authorizer authorize_;
    old_sse_paths old_;
    bool single_threaded_ = false;
    bool sessions_ = true;
    session_store* store_ = nullptr;
    bool resumable_ = true;
    duration retry_ = std::chrono::seconds(1);
};

} // namespace comcp::inline COMCP_ABI
