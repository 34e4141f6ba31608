// SPDX-License-Identifier: MIT
//
// One HTTP/1.1 connection of a client: one coroutine that connects and then always reads, so that an answer, and a
// peer that leaves while nothing is asked, are both noticed at once. A request is written in place, by whoever has it.
// One request at a time, none is pipelined. Not for deciding what a status means, or which request is sent again.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/http/connector.hpp>
#include <comcp/http/limits.hpp>
#include <comcp/http/response_parser.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::http
{

class client_connection;

/// Why a request got no whole answer.
struct broken_request
{
    fault why;
    bool sent = false;   ///< a byte of it may have reached the peer
    bool reused = false; ///< on a connection that had served another one before
    bool begun = false;  ///< a byte of the answer had come
};

/// What that is for whoever asked.
inline fault broken_fault(const broken_request& how)
{
    fault why = how.why;
    if (how.begun && why.code == errc::invalid_message)
        why = fail(errc::bad_response, "the response is not HTTP/1.1: " + why.text);
    why.fate = how.sent ? outcome::unknown : outcome::not_sent;
    return why;
}

/// A request as it goes over the wire, and what becomes of it. Called in place by the connection's coroutine, until
/// `on_end` or `on_broken`, or until the connection is cut.
class client_request
{
public:
    client_request() = default;
    client_request(const client_request&) = delete;
    client_request& operator=(const client_request&) = delete;
    virtual ~client_request() = default;

    // Both stay as they are while the request is on a connection.
    std::string head;
    std::string body;

    /// The head of the answer. *Result*: the limit of its body, in bytes.
    virtual std::uint64_t on_head(const response_head& head) = 0;
    /// A piece of the body. It stays where it is as long as the connection is held.
    virtual void on_body(std::string_view piece) = 0;
    /// The answer is complete; the connection is off already.
    virtual void on_end() = 0;
    virtual void on_broken(broken_request how) = 0;
};

/// Who has the connections.
class connection_owner
{
public:
    connection_owner() = default;
    connection_owner(const connection_owner&) = delete;
    connection_owner& operator=(const connection_owner&) = delete;

    /// The connection can take the next request.
    virtual void on_idle(client_connection& connection) = 0;
    /// It is closed, by whomever.
    virtual void on_closed(client_connection& connection) = 0;
    /// All that was read is handled; may `hold` the connection.
    virtual void on_read(client_connection& connection) = 0;

protected:
    ~connection_owner() = default;
};

/// Thread rule: its executor. It may outlive the execution context.
class client_connection : public std::enable_shared_from_this<client_connection>
{
public:
    client_connection(comcp::detail::parking_lot& lot, http::origin to, const http_limits& limits)
        : origin_(std::move(to)),
          parser_(limits),
          released_(lot)
    {}

    /// Connects and serves requests, the first of which is `first`, until it is cut. Runs in place up to the first
    /// wait.
    static void start(std::shared_ptr<client_connection> self, const executor& ex,
                      std::shared_ptr<connection_owner> owner, std::shared_ptr<connector> door, url to, duration within,
                      std::shared_ptr<client_request> first);

    const http::origin& origin() const { return origin_; }
    bool closed() const { return state_ == state::closed; }
    /// Idle, and the peer has neither left nor said anything.
    bool usable() { return state_ == state::idle && stream_->quiet(); }

    /// Writes a request on an idle connection. *Errors*: nothing of it was sent; the connection is cut.
    result<void> send(std::shared_ptr<client_request> request);

    /// Closes it at once; its request hears no more.
    void cut();

    /// Nothing more is read until `release`: what was read is still looked at.
    void hold() { held_ = true; }
    bool held() const { return held_; }
    /// Reads on, in place.
    void release()
    {
        held_ = false;
        released_.complete();
    }

private:
    enum class state { connecting, idle, busy, closed };

    struct ended;

    static task<void> run(std::shared_ptr<client_connection> self, std::shared_ptr<connection_owner> owner,
                          std::shared_ptr<connector> door, url to, duration within);
    static task<void> write_rest(std::shared_ptr<client_connection> self);

    void write(io_error_code& failed);
    bool writing() const { return written_ < request_size(); }
    std::size_t request_size() const { return request_ ? request_->head.size() + request_->body.size() : 0; }
    std::span<char> space();
    void take(std::string_view input);
    void end_of_input(const io_error_code& failed);
    void answered(std::string_view rest);
    void broken(fault why);

    http::origin origin_;
    executor executor_;
    connection_owner* owner_ = nullptr; // kept by the coroutine
    std::unique_ptr<any_stream> stream_;
    response_parser parser_;
    state state_ = state::connecting;
    std::shared_ptr<client_request> request_;
    std::size_t written_ = 0; // of the request
    bool output_broken_ = false;
    bool rest_waits_ = false; // a coroutine writes what the peer did not take at once
    bool reused_ = false;
    bool held_ = false;
    comcp::detail::waiter released_;
    asio::cancellation_signal connecting_;
    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_ = 0;
    bool filled_ = false; // the last read took all of the buffer
};

} // namespace comcp::inline COMCP_ABI::http

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/client_connection.ipp>
#endif
