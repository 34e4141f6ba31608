// SPDX-License-Identifier: MIT
//
// What an HTTP service and its running requests share: see server/http_service.hpp. Every coroutine holds it, none
// holds the service.
#pragma once

#include <comcp/http/guard.hpp>
#include <comcp/http/service.hpp>
#include <comcp/server/http_service_options.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/session_keeper.hpp>
#include <comcp/server/session_table.hpp>
#include <comcp/session/wait_list.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// A POST, which keeps its session busy until it is answered and read.
class posted_exchange final : public http::exchange
{
public:
    posted_exchange(const http::session_transport& in, http::exchange_form form, session_lease lease)
        : exchange(in.lot(), form),
          lease_(std::move(lease))
    {}
    const session_lease& lease() const { return lease_; }

private:
    session_lease lease_;
};

/// The endpoint, and the two of the old HTTP+SSE transport where it is served.
struct http_guards
{
    http::guard endpoint;
    std::optional<http::guard> old_stream;
    std::optional<http::guard> old_messages;
};

/// *Errors*: errc::invalid_argument for an allowed host or origin that is none, and for paths that are none.
result<http_guards> make_guards(const http_service_options& options);

class http_core final : public std::enable_shared_from_this<http_core>, private parked
{
public:
    http_core(comcp::executor ex, std::weak_ptr<server_core> served, http_service_options chosen, http_guards checked,
              const comcp::limits& bounds);
    ~http_core();

    using refusal = std::optional<http::response>;

    static task<refusal> refuse(std::shared_ptr<http_core> self, http::request& head);
    static task<http::response> handle(std::shared_ptr<http_core> self, http::request whole);
    static task<void> finish_calls(std::shared_ptr<http_core> self, duration patience);
    static task<void> drain(std::shared_ptr<http_core> self, duration patience);

    /// The service dies: ends all sessions at once, by posts.
    void abandon();

    const http_service_options options;
    const std::size_t most_body;
    const std::shared_ptr<http::budget> memory;
    const std::shared_ptr<http::budget> streams;
    const std::shared_ptr<session_table> table;
    const std::shared_ptr<session_keeper> keeper; ///< null: sessions are kept in memory only

private:
    // What can be said without waiting; nothing when the request may go on.
    refusal refuse_before_authorization(http::request& head) const;
    refusal refuse_after_authorization(http::request& head) const;
    refusal refuse_body(http::request& whole) const;

    /// What the host's authorization says, if there is one.
    static task<refusal> authorize(std::shared_ptr<http_core> self, http::request& head);

    // What answers a whole request, which stands in the frame of `handle`. Not started yet.
    static task<http::response> answer_to(const std::shared_ptr<http_core>& self, http::request& whole);
    static task<http::response> answer_to_old(const std::shared_ptr<http_core>& self, http::request& whole);
    static task<http::response> unknown_session(http::request& whole);
    static task<http::response> end_session(std::shared_ptr<http_core> self, http::request& whole);
    static task<void> drain_here(std::shared_ptr<http_core> self, duration patience);
    /// A POST of a session that there is.
    static task<http::response> post(std::shared_ptr<http_core> self, session_table::in_use used, http::request& whole);
    /// A POST without a session: it makes one, or is one by itself.
    static task<http::response> first_post(std::shared_ptr<http_core> self, comcp::executor ex, http::request& whole);
    static task<http::response> open_stream(std::shared_ptr<http_core> self, session_table::in_use used,
                                            http::request& whole);
    /// The old HTTP+SSE transport: a GET that is a session, and a POST of one.
    static task<http::response> open_old(std::shared_ptr<http_core> self, comcp::executor ex, http::request& whole);
    static task<http::response> post_old(std::shared_ptr<http_core> self, session_table::in_use used,
                                         http::request& whole);
    /// Has it run on the executor of its session.
    task<http::response> at_session(const comcp::executor& ex, task<http::response> answer) const;
    std::optional<std::string_view> session_id_of(const http::request& head) const;
    /// Whether its session may be another process's by now.
    bool has_left(const http::request& whole) const;
    refusal refuse_old_message(const http::request& head) const;
    /// What is no message, and of which no id could be told, is answered by its POST.
    refusal refuse_unreadable(const http::request& whole) const;

    enum class place {
        endpoint,
        old_stream,
        old_messages,
    };
    place place_of(const http::request& head) const;
    const http::guard& guard_of(place where) const;
    // Sessions of other processes (impl/http_takeover.ipp).
    enum class takeover {
        done,
        unknown, ///< there is no such session, or it is somebody else's
        failed,  ///< the store could not be asked
        no_room,
    };
    struct search
    {
        explicit search(std::shared_ptr<parking_lot> in) : lot(std::move(in)), over(*lot) {}
        std::shared_ptr<parking_lot> lot;
        wait_list over;
        std::optional<takeover> found;
    };
    struct search_ended
    {
        void operator()(std::exception_ptr) const {}
    };
    std::shared_ptr<session_keeper> make_keeper() const;
    /// Looks for the session of a request in the store when it is not here. Afterwards it is, or is unknown.
    static task<refusal> look_for_session(std::shared_ptr<http_core> self, const http::request& head);
    /// On the table's executor.
    static task<takeover> take_over(std::shared_ptr<http_core> self, std::string id, std::string principal);
    static task<void> run_search(std::shared_ptr<http_core> self, std::shared_ptr<search> as, std::string key,
                                 std::string id, std::string principal);
    static task<takeover> load(std::shared_ptr<http_core> self, std::string id, std::string principal);
    /// On the session's executor.
    static task<takeover> go_on(std::shared_ptr<http_core> self, comcp::executor ex, session_record with);
    /// A stream of which the process is gone.
    static task<http::response> resume_elsewhere(std::shared_ptr<http_core> self, session_table::in_use used,
                                                 std::shared_ptr<session> owner, http::request& whole);
    http::response refuse_resume(http::replay_state why, http::request& whole) const;

    static http::exchange_form form_of(const http::request& whole, bool resumable);
    comcp::executor executor_of_session() const;
    http::response answer_of(const std::shared_ptr<posted_exchange>& from, const std::shared_ptr<session>& owner,
                             http::request& whole) const;
    http::response stream_of(std::shared_ptr<http::exchange> from, std::uint32_t reader,
                             const std::shared_ptr<session>& owner, session_lease lease, http::request& whole) const;

    bool closed() const { return closing_.load(std::memory_order_relaxed) || served_.expired(); }
    void drop() override { executor_ = comcp::executor(); }

    comcp::executor executor_;
    std::shared_ptr<parking_lot> lot_;
    std::weak_ptr<server_core> served_;
    http_guards guards_;
    std::size_t depth_;
    std::shared_ptr<const http::session_transport_settings> settings_;
    std::shared_ptr<const http::session_transport_settings> old_settings_;
    std::atomic<bool> closing_{false};
    std::unordered_map<std::string, std::shared_ptr<search>> searches_; // on the table's executor
};

} // namespace comcp::inline COMCP_ABI::detail
