// SPDX-License-Identifier: MIT
//
// What the stream and the POSTs of one client of the old HTTP+SSE transport (2024-11-05) share: connections, what the
// session is to be told, and one timer. Everything happens in place, in the turn of the connection that read or of the
// session that asked.
#pragma once

#include <comcp/detail/deadlines.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/http/client_connection.hpp>
#include <comcp/http/client_settings.hpp>
#include <comcp/http/connection_pool.hpp>
#include <comcp/http/refusal.hpp>
#include <comcp/http/sse.hpp>
#include <comcp/transport/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http::detail
{

class sse_hub;

/// The GET whose response is the session.
class sse_stream final : public client_request
{
public:
    explicit sse_stream(sse_hub& hub) : hub_(hub) {}

    /// What a refusal says, as far as it has come; false when it was none. At most once.
    bool conclude();

    std::uint64_t on_head(const response_head& response) override;
    void on_body(std::string_view piece) override;
    void on_end() override;
    void on_broken(broken_request how) override;

private:
    sse_hub& hub_;
    std::optional<sse_parser> events_; // of a response that is a stream
    bool refused_ = false;
    reply_rule rule_;
    refusal refusal_;
    std::string_view problem_;
    std::string text_;
};

/// The POST of one message.
class sse_post final : public client_request, public std::enable_shared_from_this<sse_post>
{
public:
    sse_post(sse_hub& hub, bool request, exchange_id number) : hub_(hub), request_(request), number_(number) {}

    bool is_request() const { return request_; }
    exchange_id number() const { return number_; }
    void asked(client_connection& on, std::shared_ptr<const url> to);
    /// Nobody waits for it any more. What is on its way goes on, not for long.
    void settle();
    void drop();
    void give_up(fault why);
    void expired();

    std::uint64_t on_head(const response_head& response) override;
    void on_body(std::string_view piece) override;
    void on_end() override;
    void on_broken(broken_request how) override;

    // Of the hub.
    std::uint64_t key = 0;
    comcp::detail::owned_deadline<sse_post, &sse_post::expired> due{*this};

private:
    void conclude();
    void finish();

    sse_hub& hub_;
    bool request_;
    exchange_id number_;
    bool settled_ = false;
    bool accepted_ = false;
    bool refused_ = false;
    unsigned redirects_ = 0;
    client_connection* on_ = nullptr;
    std::shared_ptr<const url> sent_to_;
    reply_rule rule_;
    refusal refusal_;
    std::string text_;
};

/// Ownership: the transport, and each connection's coroutine, by value. Thread rule: its executor. It may outlive the
/// execution context.
class sse_hub final : public http::connection_owner, public std::enable_shared_from_this<sse_hub>
{
public:
    sse_hub(const executor& ex, client_settings with);

    // ---- for the transport -----------------------------------------------------------------------------------------

    static task<void> open(std::shared_ptr<sse_hub> self);
    static task<void> receive(std::shared_ptr<sse_hub> self, transport_batch& batch);
    std::string& begin(const send_hint& hint);
    void commit();
    /// Nothing more is owed on an exchange: answered, or given up.
    void settle(exchange_id which);
    void negotiated(std::string_view version);
    static task<void> finish(std::shared_ptr<sse_hub> self);
    void close() noexcept;
    void context_gone() noexcept;

    // ---- for the stream and the POSTs ------------------------------------------------------------------------------

    const client_settings& settings() const { return with_; }
    bool listens() const { return phase_ == phase::opening || phase_ == phase::open; }
    void on_event(const sse_event& event);
    /// Something was read on the stream.
    void heard();
    /// It was refused: only the body, which may say why, is still to come.
    void limit_refusal() { limit_opening(with_.times.refusal); }
    /// The stream is elsewhere, if it may be there.
    void follow(const refusal& to, fault why);
    /// The endpoint is elsewhere.
    void move_endpoint(url to);
    /// There is no stream, or none any more.
    void lose(fault why);
    void start(const std::shared_ptr<sse_post>& what);
    void set_due(sse_post& what, duration after);
    void forget(sse_post& what);
    transport_event& push(transport_event::kind what, exchange_id on);
    /// Lets the session hear what there is, in place.
    void wake();

    void on_idle(client_connection& connection) override;
    void on_closed(client_connection& connection) override;
    void on_read(client_connection& connection) override;

private:
    static constexpr std::size_t most_notices = 64; // that were not accepted yet: then the session hears nothing new
    static constexpr std::size_t most_waiting = 1024;

    enum class phase {
        opening, ///< no endpoint yet
        open,
        lost,   ///< by the server
        closed, ///< by us
    };

    /// The session is busy inside the transport: it is not woken in place.
    class entered
    {
    public:
        explicit entered(sse_hub& of) : hub_(of) { ++hub_.inside_; }
        entered(const entered&) = delete;
        entered& operator=(const entered&) = delete;
        ~entered() { --hub_.inside_; }

    private:
        sse_hub& hub_;
    };
    struct wake_later;
    struct serve_later;
    struct tell_closed;

    void ask();
    void on_endpoint(std::string_view told);
    void write_post_head();
    std::shared_ptr<client_connection> make_connection(const url& to);
    void connect(const std::shared_ptr<client_connection>& on, const url& to, std::shared_ptr<client_request> first);
    time_point now() const { return deadlines_.now(); }
    bool has_room_for(const sse_post& what) const;
    bool something_to_tell() const;
    void serve_waiting();
    void limit_opening(duration most);
    void opening_expired();
    void silence_expired();
    void drop_unused();
    void let_go();

    client_settings with_;
    comcp::executor executor_;
    std::shared_ptr<comcp::detail::parking_lot> lot_;
    comcp::detail::deadline_queue deadlines_;
    comcp::detail::owned_deadline<sse_hub, &sse_hub::opening_expired> opening_{*this};
    comcp::detail::owned_deadline<sse_hub, &sse_hub::silence_expired> silence_{*this};
    comcp::detail::owned_deadline<sse_hub, &sse_hub::drop_unused> unused_{*this};
    time_point open_by_ = time_point::max();
    url url_;
    unsigned redirects_ = 0;
    std::shared_ptr<const url> endpoint_;
    std::string post_head_; // but for the length of the body
    std::string version_;
    phase phase_ = phase::opening;
    fault why_; // lost

    std::unordered_map<std::uint64_t, std::shared_ptr<sse_post>> posts_;
    std::uint64_t last_key_ = std::uint64_t(1) << 63U; // of those that the session does not number
    std::shared_ptr<sse_post> building_;
    std::shared_ptr<sse_post> gate_; // `initialized`: nothing overtakes it
    bool gate_next_ = false;
    std::size_t notices_ = 0;

    std::shared_ptr<sse_stream> asked_; // while it is opened
    std::shared_ptr<client_connection> stream_;
    std::vector<std::shared_ptr<client_connection>> connections_; // with that of the stream
    connection_pool pool_;
    std::deque<std::shared_ptr<sse_post>> waiting_; // for a connection

    transport_batch pending_;
    std::deque<std::string> texts_;  // of what is pending
    std::deque<std::string> handed_; // of what the session looks at
    comcp::detail::waiter opened_;
    comcp::detail::waiter arrived_;
    comcp::detail::waiter quiet_; // the finishing coroutine
    int inside_ = 0;
    bool finishing_ = false;
};

} // namespace comcp::inline COMCP_ABI::http::detail
