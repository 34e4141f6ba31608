// SPDX-License-Identifier: MIT
//
// What all exchanges of one HTTP client transport share: connections, what the session is to be told, the session id,
// and one timer. Everything happens in place, in the turn of the connection that read or of the session that asked.
#pragma once

#include <comcp/detail/deadlines.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/http/client_exchange.hpp>
#include <comcp/http/client_settings.hpp>
#include <comcp/http/connection_pool.hpp>
#include <comcp/transport/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http::detail
{

/// Ownership: the transport, and each connection's coroutine, by value. Thread rule: its executor. It may outlive the
/// execution context.
class client_hub final : public http::connection_owner, public std::enable_shared_from_this<client_hub>
{
public:
    client_hub(const executor& ex, client_settings with);

    // ---- for the transport -----------------------------------------------------------------------------------------

    static task<void> receive(std::shared_ptr<client_hub> self, transport_batch& batch);
    std::string& begin(const send_hint& hint);
    void commit();
    void abandon(exchange_id which);
    void complete(exchange_id which);
    bool resume(exchange_id which);
    void negotiated(std::string_view version);
    void listen();
    static task<void> finish(std::shared_ptr<client_hub> self);
    void close() noexcept;
    void context_gone() noexcept;

    // ---- for exchanges ---------------------------------------------------------------------------------------------

    const client_settings& settings() const { return with_; }
    time_point now() const { return deadlines_.now(); }
    /// For a delay. *Errors*: those of the system.
    result<double> random() const;
    transport_event& push(transport_event::kind what, exchange_id on);
    /// What was read on a connection, and the exchange's own text, stay until the session has seen them.
    void keep(client_connection* connection, std::shared_ptr<client_exchange> exchange);
    std::string_view keep_text(std::string_view text);
    void start(const std::shared_ptr<client_exchange>& what);
    void set_due(client_exchange& what, duration after);
    void forget(client_exchange& what);
    /// Lets the session hear what there is, in place.
    void wake();
    /// The session id of a response. *Errors*: it cannot be one.
    result<void> learn_session(const fields& head);
    /// The server does not know the session any more: there is nothing to end.
    void lost_session() { session_lost_ = true; }
    /// All that does not know better goes to another URL from now on.
    void move_to(url to);

    void on_idle(client_connection& connection) override;
    void on_closed(client_connection& connection) override;
    void on_read(client_connection& connection) override;

private:
    static constexpr std::size_t most_notices = 64; // that were not accepted yet: then the session hears nothing new
    static constexpr std::size_t most_waiting = 1024;

    /// The session is busy inside the transport: it is not woken in place.
    class entered
    {
    public:
        explicit entered(client_hub& of) : hub_(of) { ++hub_.inside_; }
        entered(const entered&) = delete;
        entered& operator=(const entered&) = delete;
        ~entered() { --hub_.inside_; }

    private:
        client_hub& hub_;
    };
    struct wake_later;
    struct release_all;
    struct serve_later;

    std::shared_ptr<client_exchange> make(sent_kind what, exchange_id number);
    void begin_exchange(const std::shared_ptr<client_exchange>& what);
    std::shared_ptr<client_exchange> find(exchange_id which) const;
    void write_head(client_exchange& of, const url& to) const;
    void write_post_head();
    void serve_waiting();
    duration time_for(const client_exchange& what) const;
    bool has_room_for(const client_exchange& what) const;
    void release(std::vector<std::shared_ptr<client_connection>>& held);
    bool something_to_tell() const;
    void release_given_up();
    void drop_events();
    void drop_unused();

    client_settings with_;
    comcp::executor executor_;
    std::shared_ptr<comcp::detail::parking_lot> lot_;
    comcp::detail::deadline_queue deadlines_;
    std::shared_ptr<const url> url_;
    std::string post_head_; // but for the length of the body
    std::string session_;
    bool session_lost_ = false;
    std::string version_;

    std::unordered_map<std::uint64_t, std::shared_ptr<client_exchange>> exchanges_;
    std::uint64_t last_key_ = std::uint64_t(1) << 63U; // of those that the session does not number
    std::shared_ptr<client_exchange> building_;
    std::shared_ptr<client_exchange> gate_; // `initialized`: nothing overtakes it
    bool gate_next_ = false;
    std::size_t notices_ = 0;

    std::vector<std::shared_ptr<client_connection>> connections_;
    connection_pool pool_;
    comcp::detail::owned_deadline<client_hub, &client_hub::drop_unused> unused_{*this};
    std::deque<std::shared_ptr<client_exchange>> waiting_; // for a connection

    transport_batch pending_;
    struct kept
    {
        std::vector<std::shared_ptr<client_connection>> connections;
        std::vector<std::shared_ptr<client_exchange>> exchanges;
        std::deque<std::string> texts;
    };
    kept kept_;   // for what is pending
    kept handed_; // for what the session looks at
    comcp::detail::waiter arrived_;
    comcp::detail::waiter quiet_; // the finishing coroutine
    int inside_ = 0;
    bool finishing_ = false;
    bool closed_ = false;
};

} // namespace comcp::inline COMCP_ABI::http::detail
