// SPDX-License-Identifier: MIT
//
// One HTTP/1.1 connection of a server: reads requests from a stream one after the other, asks the service, writes the
// answers. All limits and deadlines of a peer's requests are enforced here. Not for deciding what a request means, and
// not for accepting connections: that is listener.hpp.
#pragma once

#include <comcp/detail/deadlines.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/http/budget.hpp>
#include <comcp/http/connection_input.hpp>
#include <comcp/http/message.hpp>
#include <comcp/http/request_parser.hpp>
#include <comcp/http/service.hpp>
#include <comcp/http/service_limits.hpp>
#include <comcp/task.hpp>
#include <comcp/transport/any_stream.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::http::detail
{

class connection;

/// What the connections of one listener share, and whom they tell that they have ended.
class connection_owner
{
public:
    connection_owner(http::service& asked, http_service_limits bounds)
        : service(&asked),
          limits(bounds),
          memory(asked.memory())
    {}
    connection_owner(const connection_owner&) = delete;
    connection_owner& operator=(const connection_owner&) = delete;

    /// On the connection's executor, once: both its coroutines have ended. Not when the context ends first.
    virtual void ended(connection& which) noexcept = 0;
    /// Any thread: it is destroyed.
    virtual void destroyed(connection& which) noexcept = 0;

    http::service* const service;
    const http_service_limits limits;
    const std::shared_ptr<http::budget> memory;
    std::atomic<bool> closed{false}; ///< the service is not asked any more

protected:
    ~connection_owner() = default;
};

/// Two coroutines hold it, the one that serves and the one that reads ahead; it ends with them.
/// Thread rule: its executor.
class connection : public std::enable_shared_from_this<connection>
{
public:
    enum class manner {
        serve,
        turn_away, ///< there are too many: 503 to whatever is asked
    };

    connection(executor ex, std::unique_ptr<any_stream> stream, std::shared_ptr<connection_owner> owner, manner how);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    /// Starts both coroutines. From any thread.
    static void start(std::shared_ptr<connection> self);

    /// Ends after the request that has begun; at once when none has.
    void finish();
    /// Ends at once.
    void cut();

    const executor& home() const { return executor_; }
    manner how() const { return how_; }

private:
    struct half_ended; // completion handler of a coroutine

    enum class got {
        all,
        part,    // more is to come
        nothing, // the peer is gone, or idle for too long
        bad,     // wrong_ says how
    };

    static task<void> run_service(std::shared_ptr<connection> self);
    static task<void> run_input(std::shared_ptr<connection> self);
    void half_end();

    task<void> serve();
    task<got> read_body();
    task<bool> skip_body();
    task<bool> write_stream(response& head);
    task<bool> write(std::string_view text);
    task<void> write_rest();
    task<void> linger();

    void begin_request();
    got take_head();
    http::request take_request();
    void begin_body();
    got take_body();
    void give_up_body();
    void begin_answer(response& answer);
    bool end_answer(response& answer);
    bool write_some();

    got bad(const parse_error& why);
    bool make_room(std::uint64_t size);
    bool print_head(response& answer, framing body);
    response own_answer(const parse_error& why);
    std::string_view date();
    void input_late();

    executor executor_;
    std::shared_ptr<connection_owner> owner_;
    std::unique_ptr<any_stream> stream_;
    manner how_;
    std::shared_ptr<comcp::detail::parking_lot> lot_;
    asio::cancellation_signal stop_service_; // bound to the serving coroutine
    comcp::detail::deadline_queue deadlines_;
    comcp::detail::owned_deadline<connection, &connection::input_late> input_deadline_{*this};
    comcp::detail::owned_deadline<connection, &connection::cut> write_deadline_{*this};
    connection_input input_;
    std::unique_ptr<request_parser> parser_; // from the first byte of a request

    // Of the request that is served.
    parse_error wrong_;
    framing coming_; // its body
    bool awaits_continue_ = false;
    std::string body_; // here and not in a frame: a read into it may be pending when the frame ends
    budget_share counted_;
    fields answer_fields_; // for answers of our own
    bool get_ = false;
    bool bare_ = false; // HEAD: no content
    bool is_http_1_1_ = true;
    bool keep_ = false; // the peer may send another one

    std::string out_;
    std::array<std::string_view, 2> unwritten_; // of the output: a head and a body
    std::string spare_;                         // memory of the last answer, for the next body
    budget_share spare_counted_;
    std::string peer_;
    std::string date_;
    std::time_t date_of_ = 0;
    int halves_ = 2;
    bool idle_ = false;      // between two requests
    bool late_ = false;      // the deadline of the input has passed
    bool last_ = false;      // no further request
    bool streaming_ = false; // the end of the input says that the client has left
    bool cut_ = false;
};

} // namespace comcp::inline COMCP_ABI::http::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/http/impl/connection.ipp>
#endif
