// SPDX-License-Identifier: MIT
//
// One exchange of a client: a POST, the standalone GET stream, or the DELETE at the end. It reads the response, turns
// it into events for the session, and knows what is done when it breaks: told, asked again, or resumed with a GET.
#pragma once

#include <comcp/detail/deadlines.hpp>
#include <comcp/http/client_connection.hpp>
#include <comcp/http/refusal.hpp>
#include <comcp/http/reply_rules.hpp>
#include <comcp/http/sse.hpp>
#include <comcp/limits.hpp>
#include <comcp/transport/concept.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::http::detail
{

class client_hub;

class client_exchange final : public client_request, public std::enable_shared_from_this<client_exchange>
{
public:
    client_exchange(client_hub& hub, sent_kind what, exchange_id number) : hub_(hub), what_(what), number_(number) {}

    sent_kind what() const { return what_; }
    exchange_id number() const { return number_; }
    /// What its next HTTP request is: a POST whose stream broke goes on as a GET.
    sent_kind asks() const { return resuming_ ? sent_kind::listen : what_; }
    /// Where the next request goes.
    std::shared_ptr<const url> target(const std::shared_ptr<const url>& endpoint) const;
    /// For the next GET; empty when there is none.
    std::string_view last_event_id() const;

    /// It is to be asked, now or when there is room.
    void wanted() { phase_ = phase::asking; }
    /// It was put on a connection; `in_session`: with a session id.
    void asked(client_connection& on, std::shared_ptr<const url> to, bool in_session);
    /// It could not be asked at all.
    void refused(fault why) { give_up(std::move(why)); }

    /// The session's verdicts. `resume`: whether it goes on.
    void complete();
    void abandon();
    bool resume();

    void expired();

    std::uint64_t on_head(const response_head& head) override;
    void on_body(std::string_view piece) override;
    void on_end() override;
    void on_broken(broken_request how) override;

    // Of the hub.
    std::uint64_t key = 0;
    comcp::detail::owned_deadline<client_exchange, &client_exchange::expired> due{*this};

private:
    enum class phase : std::uint8_t {
        asking,   ///< no head yet
        json,     ///< the body is the answer
        events,   ///< the body is a stream
        refused,  ///< the body may say why
        draining, ///< the body is of no interest
        pausing,  ///< before the next GET
        told,     ///< the session knows that it ended; its verdict follows
        over,
    };

    static constexpr std::uint64_t drained_at_most = 64 * 1024;

    void read_stream(std::string_view piece);
    void limit_silence(duration most);
    void deliver(std::string_view text, std::string_view piece);
    /// The body, of which the connection may still have the bytes.
    void deliver_answer(client_connection* from);
    void deliver_oversized(const rpc::oversize_facts& facts);
    bool answered_all_the_same();
    /// The body, or the first message of the stream, is an error that says so.
    bool says_session_gone(std::string_view text) const;
    void forgotten(std::string_view why);
    /// The stream ended, or broke.
    void stream_ended();
    /// The status was no success, or the content no answer.
    void conclude(client_connection* from);
    void follow();
    void time_is_up();
    /// Waits for the next GET; false: no more of them.
    bool pause();
    void pause_or_end(fault why);
    void tell_closed();
    void give_up(fault why);
    void finish();
    fault status_fault() const;
    void leave_connection();

    client_hub& hub_;
    sent_kind what_;
    exchange_id number_;
    phase phase_ = phase::asking;
    bool resuming_ = false;
    bool in_session_ = false;
    bool answered_ = false;            // the session wants no more of it
    bool spoke_ = false;               // a message came on its stream
    bool repeated_ = false;            // a GET or DELETE that an idle connection lost
    unsigned attempt_ = 0;             // GETs since the last event
    unsigned redirects_ = 0;           // since the last response that was none
    std::shared_ptr<const url> moved_; // of a GET or DELETE, for good
    std::shared_ptr<const url> once_;  // for one request
    client_connection* on_ = nullptr;
    std::shared_ptr<const url> sent_to_;
    time_point opened_{};

    // Of the response.
    reply_rule rule_;
    refusal refusal_;
    std::uint64_t declared_ = 0;
    std::string_view problem_; // with a success that is none
    std::string_view whole_;   // a body that came in one piece
    std::string text_;         // or in several
    std::optional<sse_parser> events_;
};

} // namespace comcp::inline COMCP_ABI::http::detail
